// Hostile texts wherever somebody else's words are shown. Every cell is run, everything in it opened and looked at.
import { open } from "./page.mjs";

const lab = await open();
const { page, seen } = lab;
seen.unsafe = {};
seen.shown = []; // where a text is seen as what it is

const look = async (cell, name) => {
  const found = await lab.unsafe();
  if (found.length) seen.unsafe[name] = found;
  if ((await lab.output(cell)).includes("canary")) seen.shown.push(name);
  await lab.portrait(cell, name).catch(() => {});
};

await lab.drive(async () => {
  const { cells } = lab.given; // names of what is shown, in the order of the cells; `shown`: those with a hostile text to be read
  await lab.all(0);
  for (const [n, name] of cells.entries()) {
    const cell = n + 1;
    await lab.run(cell);
    if (name === "question") {
      const choice = lab.area(cell).getByRole("button", { name: /canary/ }).first();
      await choice.waitFor();
      await look(cell, "question_open");
      await choice.click();
    }
    await lab.ended(cell);
    await lab.settled(cell);
    await lab.walk(cell, 4);
    if (lab.given.shown.includes(name)) await lab.shows(cell, "canary", 15000).catch(() => {}); // or the test says which does not
    await look(cell, name);
  }
  seen.works = await lab.code(lab.given.python);
  await lab.reload();
  for (const [n] of cells.entries()) { await lab.at(n + 1); await lab.unfold(n + 1); }
  await page.waitForTimeout(1500); // mathematics would be set, and pictures loaded, by now
  const found = await lab.unsafe();
  if (found.length) seen.unsafe.reloaded = found;
  seen.still_works = await lab.code(lab.given.python);
  await lab.trust();
  Object.assign(seen, await lab.canary());
  seen.heard = await page.evaluate(async () => { // one that is let do what it wants is heard
    const evil = document.createElement("div");
    evil.innerHTML = "<img src=x onerror=canary(2)>";
    for (let n = 0; n < 50 && !window.hacked.length; n++) await new Promise((done) => setTimeout(done, 100));
    return window.hacked;
  });
  // The page is as it was: its bars are where they are, and a panel covers nothing but its own output.
  seen.covered = await page.evaluate(() => {
    const bar = document.querySelector("#jp-top-panel, #jp-MainMenu").getBoundingClientRect();
    const top = document.elementFromPoint(bar.left + bar.width / 2, bar.top + bar.height / 2);
    return top ? top.closest(".jp-Cell-outputArea") !== null : true;
  });
});
