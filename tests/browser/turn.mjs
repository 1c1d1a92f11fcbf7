// The panel of a turn, from its first second to what stays of it, as a person sees, hears and touches it.
import { open } from "./page.mjs";

const lab = await open();
const { page, seen } = lab;
const { at } = lab.given; // cells by their names
const python = (code) => lab.given.py.replace("{}", code);

const stop = (cell) => lab.area(cell).getByRole("button", { name: "Stop" });
const timed = async (what) => { const began = Date.now(); await what(); return Date.now() - began; };

// Runs a cell, waits for `words` in its output, presses Stop there, and says how long it took the cell to end.
async function stopped(cell, words) {
  await lab.run(cell);
  await stop(cell).waitFor();
  await lab.shows(cell, words);
  const ms = await lab.pressed(stop(cell), cell);
  return { ms, left: await stop(cell).count(), said: await lab.output(cell) };
}

async function rides(cell) {
  const fonts = await lab.held("**/*.woff*"); // the signs of buttons, which come when the first is shown
  await lab.watch("line", `.hermes-turn [aria-hidden="true"]`);
  await lab.watch("spoken", `.hermes-turn [role="status"]`);
  await lab.run(cell);
  await stop(cell).waitFor();
  await lab.follow("stop", ".hermes-turn button");
  const [slider, text] = [".widget-slider [role=slider]", ".widget-text input"].map((each) => lab.area(at.values).locator(each));
  await slider.focus();
  await lab.keys("ArrowRight", "ArrowRight");
  await text.click();
  await page.keyboard.type("pond", { delay: 120 });
  await lab.shows(cell, "silent");
  seen.fonts = await fonts();
  await lab.portrait(cell, "silent");
  await lab.shows(cell, "retry 2 of");
  await lab.portrait(cell, "retrying");
  await lab.shows(cell, "Half of it");
  await lab.portrait(cell, "answering");
  if (lab.given.looked) { seen.axe_running = await lab.axeOf(cell); seen.wide_running = await lab.overflow(cell); }
  await lab.ended(cell);
  seen.line = await lab.transcript("line");
  seen.spoken = await lab.transcript("spoken");
  seen.steady = await lab.steadiness("stop");
  seen.answer = await lab.output(cell);
  await lab.portrait(cell, "finished");
  await slider.focus();
  await lab.keys("ArrowRight");
  await text.click();
  await page.keyboard.type("s", { delay: 120 });
  for (let n = 0; n < 10 && !(seen.values || "").includes("ponds"); n++) // a widget sends when what it sent before is heard
    seen.values = await lab.code(python("print(slider.value, words.value, sorted(set(heard)))"));
}

async function asked(cell, words, choice) {
  await lab.run(cell);
  await lab.shows(cell, words);
  seen[`${choice}_focus_kept`] = await page.evaluate(() => !document.activeElement.closest(".hermes-panel"));
  await lab.portrait(cell, `asked_${words.split(" ")[0]}`);
  if (lab.given.looked) seen.axe_asked = [...(seen.axe_asked || []), ...(await lab.axeOf(cell))];
  await lab.focus(cell);
  await lab.tabTo(choice);
  await lab.keys("Enter");
  await lab.ended(cell);
  return lab.output(cell);
}

await lab.drive(async () => {
  await lab.all(0, at.values);
  await rides(at.ride);

  seen.stops = {};
  for (const [name, words] of Object.entries(lab.given.stages)) seen.stops[name] = await stopped(at[name], words);

  seen.clarified = await asked(at.clarify, "Red or blue?", "blue");
  seen.approved = await asked(at.approve, "Allow it?", "once");

  // two turns after each other, both asked for at once
  await lab.run(at.first);
  await lab.run(at.second);
  await lab.ended(at.second);
  seen.both = [await lab.output(at.first), await lab.output(at.second)];

  // a page that is loaded anew while a turn writes, asks, and is stopped
  await lab.run(at.reload);
  await lab.shows(at.reload, "Line 3");
  await lab.reload(at.reload);
  await lab.shows(at.reload, "Stop");
  await lab.shows(at.reload, "Line 12");
  await lab.portrait(at.reload, "reloaded");
  await lab.area(at.reload).getByRole("button", { name: "blue" }).click();
  await lab.shows(at.reload, "You chose blue.");
  await page.waitForFunction((cell) => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === "idle", null);
  seen.reloaded = await lab.output(at.reload);
  await lab.portrait(at.reload, "reloaded_finished");

  await lab.run(at.again);
  await lab.shows(at.again, "Line 3");
  await lab.reload(at.again);
  await lab.shows(at.again, "Stop");
  seen.reload_stop_ms = await timed(async () => {
    await stop(at.again).click();
    await stop(at.again).waitFor({ state: "detached" });
  });
  seen.reload_stopped = await lab.output(at.again);
  await lab.free();
  seen.after = await lab.code(python("print(6 * 7)"));

  if (lab.given.looked) {
    seen.axe_finished = await lab.axeOf(at.ride);
    for (const [px, theme] of [[1400, "light"], [400, "light"], [400, "dark"], [1400, "dark"], [1100, "contrast"]]) {
      await lab.theme(theme);
      await lab.width(px);
      await page.waitForTimeout(200);
      await lab.portrait(at.ride, `finished_${theme}_${px}`);
      const found = await lab.overflow(at.ride);
      if (found.length) (seen.wide ||= {})[`${theme} ${px}`] = found;
    }
  }
  Object.assign(seen, await lab.canary());
});
