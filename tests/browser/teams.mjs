// Drives a notebook with subagents, a map and a compression in JupyterLab, and prints what a person saw, as one JSON object.
import { open } from "./page.mjs";

const lab = await open();
const { page, seen, run, ended, output, shows, shot } = lab;

const stop = ".jp-OutputArea button:has-text('Stop')";
const unfold = async (cell) => {
  await page.evaluate((cell) =>
    window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node
      .querySelectorAll("details").forEach((each) => { each.open = true; }), cell);
  return output(cell);
};

await lab.drive(async () => {
  for (const cell of [0, 1]) { await run(cell); await ended(cell); }

  await run(2);
  await page.waitForSelector(stop);
  await shows(2, "3 of 3 subagents at work");
  for (const bird of ["ducks", "geese", "swans"]) await shows(2, `${bird} <b>bold</b> · thinking`);
  seen.working = await output(2);
  await shot("working.png");
  await shows(2, "completed");
  await ended(2);
  seen.ended = await unfold(2);
  await shot("ended.png");

  await run(3);
  await shows(3, "3 of 3 subagents at work");
  const pressed = Date.now();
  await page.locator(stop).click();
  await ended(3);
  seen.stopped_ms = Date.now() - pressed;
  seen.stopped = await output(3);
  seen.buttons_left = await page.locator(stop).count();

  await run(4);
  await page.waitForSelector(".hermes-progress [role=progressbar]");
  await page.waitForFunction(() => {
    const bar = document.querySelector(".hermes-progress [role=progressbar]");
    return bar && Number(bar.getAttribute("aria-valuenow")) > 0;
  });
  seen.bar = await page.evaluate(() => {
    const bar = document.querySelector(".hermes-progress [role=progressbar]");
    return bar ? 100 * bar.firstElementChild.getBoundingClientRect().width / bar.getBoundingClientRect().width : 0;
  });
  await shot("map.png");
  await ended(4);
  seen.mapped = await output(4);

  await run(5);
  await shows(5, "compressing the conversation");
  seen.compressing = await output(5);
  await shot("compressing.png");
  await ended(5);
  seen.compressed = await output(5);

  for (const cell of [6, 7]) { await run(cell); await ended(cell); }
  seen.titles = await output(6);
  seen.answers = await output(7);
  await new Promise((done) => setTimeout(done, 1500)); // mathematics would be set once its code is there
  seen.formulas = await page.locator("mjx-container").count();
  await shot("dollars.png");

  await lab.reload();
  await shows(4, "8 of 8 rows");
  seen.reloaded = (await unfold(2)) + (await output(4));
  await shot("reloaded.png");
});
