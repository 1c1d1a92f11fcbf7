// Every panel of a command: what axe-core says of it, and how it stands where there is much room and where there is little.
import { open } from "./page.mjs";

const lab = await open();
const { page, seen } = lab;
seen.axe = {};
seen.wide = {};
seen.plain = [];
seen.broken = {};
seen.unforced = {};

await lab.drive(async () => {
  const names = lab.given.cells;
  await lab.all(0, 1); // a turn, so that there is something to look at
  for (const [n, name] of names.entries()) {
    const cell = n + 2;
    await lab.run(cell);
    await lab.ended(cell);
    await lab.settled(cell);
    await lab.walk(cell, 2);
    await lab.settled(cell);
    if (!(await lab.area(cell).locator(".hermes-panel").count())) seen.plain.push(name);
    const found = await lab.axeOf(cell);
    if (found.length) seen.axe[name] = found;
    const unforced = await lab.unforced(cell);
    if (unforced.length) seen.unforced[name] = unforced;
  }
  for (const [px, theme] of [[1400, "light"], [400, "light"], [400, "dark"], [1100, "dark"]]) {
    await lab.theme(theme);
    await lab.width(px);
    await page.waitForTimeout(300);
    for (const [n, name] of names.entries()) {
      const wide = await lab.overflow(n + 2);
      if (wide.length) seen.wide[`${name} ${px}`] = wide;
      const broken = await lab.broken(n + 2);
      if (broken.length) seen.broken[`${name} ${px}`] = broken;
      await lab.portrait(n + 2, `${name}_${theme}_${px}`);
      if (theme === "dark" && px > 400) {
        const found = (await lab.axeOf(n + 2)).filter((each) => each.includes("contrast"));
        if (found.length) seen.axe[`${name} ${theme}`] = found;
      }
    }
  }
  await lab.save();
  // The next day: the notebook as it was saved, and a kernel that knows nothing of it.
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown());
  await lab.load();
  await page.waitForFunction(() => [...document.querySelectorAll(".jp-OutputArea-child")]
    .some((each) => each.textContent.includes("Error displaying widget"))); // it has looked for the widgets
  seen.later = {};
  for (const [n, name] of names.entries()) {
    await lab.at(n + 2);
    seen.later[name] = await lab.output(n + 2);
  }
  Object.assign(seen, await lab.canary());
});
