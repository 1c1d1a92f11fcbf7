// Takes the pictures that README shows: a turn at work and its timeline. See pictures.py.
import { open } from "./page.mjs";

const lab = await open();
const { page, run, ended, all, shows, area, width, theme } = lab;

await lab.drive(async () => {
  await width(920, 900);
  await all(0, 1);
  await run(2);
  await shows(2, "subagents at work");
  await shows(2, "read_file");
  await page.waitForTimeout(1200); // a moment in which both subagents have something to show
  await lab.portrait(2, "panel");
  await theme("dark");
  await lab.portrait(2, "panel-dark");
  await theme("light");
  await ended(2);
  await lab.portrait(2, "done");
  await all(3);
  await lab.portrait(3, "timeline");
});
