// Drives one notebook in JupyterLab and prints what a person saw, as one JSON object.
// Arguments: base URL of JupyterLab, notebook, folder for screenshots.
import { chromium } from "playwright-core";
import { mkdtempSync, rmSync } from "fs";
import { tmpdir } from "os";
import path from "path";

const [, , base, notebook, shots] = process.argv;
const profile = mkdtempSync(path.join(tmpdir(), "hermes-browser-"));
const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
  "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"];
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: flags,
  viewport: { width: 1100, height: 820 }, timeout: 60000,
});
const page = context.pages()[0] || (await context.newPage());
page.setDefaultTimeout(30000);
const remote = [];
page.on("request", (request) => { if (!request.url().startsWith(base) && request.url().startsWith("http")) remote.push(request.url()); });

const run = (cell) => page.evaluate((cell) => {
  const panel = window.jupyterapp.shell.currentWidget;
  panel.content.activeCellIndex = cell;
  panel.content.deselectAll();
  window.jupyterapp.commands.execute("notebook:run-cell");
}, cell);
const ended = (cell) => page.waitForFunction((cell) => {
  const panel = window.jupyterapp.shell.currentWidget;
  const prompt = panel.content.widgets[cell].node.querySelector(".jp-InputPrompt").textContent;
  return /\[\d+\]/.test(prompt) && panel.sessionContext.session.kernel.status === "idle";
}, cell);
const output = (cell) => page.evaluate((cell) =>
  window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node.innerText, cell);
const shows = (cell, words) => page.waitForFunction(([cell, words]) =>
  window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node.innerText.includes(words), [cell, words]);
const shot = (name) => page.screenshot({ path: path.join(shots, name) });

const seen = {};
try {
  await page.goto(`${base}/lab/tree/${notebook}?reset`, { waitUntil: "domcontentloaded" });
  await page.waitForSelector(".jp-Notebook .jp-Cell", { timeout: 90000 });
  await page.evaluate(async () => {
    const panel = window.jupyterapp.shell.currentWidget;
    await panel.revealed;
    await panel.sessionContext.ready;
    const kernel = panel.sessionContext.session.kernel;
    for (let n = 0; n < 300 && (kernel.status !== "idle" || kernel.connectionStatus !== "connected"); n++)
      await new Promise((done) => setTimeout(done, 100));
  });
  await run(0);
  await ended(0);

  await run(1);
  await page.waitForSelector(".jp-OutputArea button:has-text('Stop')");
  await shows(1, "Paragraph 2");
  seen.streaming = await output(1);
  await shot("streaming.png");
  const pressed = Date.now();
  await page.locator(".jp-OutputArea button:has-text('Stop')").click();
  await ended(1);
  seen.stopped_ms = Date.now() - pressed;
  seen.stopped = await output(1);
  seen.buttons_left = await page.locator(".jp-OutputArea button:has-text('Stop')").count();

  await run(2);
  await shows(2, "completed");
  await ended(2);
  seen.answer = await output(2);
  seen.hacked = await page.evaluate(() => window.hacked === true);
  await shot("answer.png");

  await run(3);
  await page.locator(".jp-OutputArea button:has-text('blue')").scrollIntoViewIfNeeded();
  await shot("question.png");
  await page.locator(".jp-OutputArea button:has-text('blue')").click();
  await ended(3);
  seen.clarified = await output(3);

  await run(4);
  await page.locator(".jp-OutputArea button:has-text('Send')").waitFor();
  await page.locator(".jp-OutputArea button:has-text('Stop')").scrollIntoViewIfNeeded();
  seen.room_right_of_stop = await page.evaluate((cell) => {
    const area = window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node;
    const stop = [...area.querySelectorAll("button")].find((button) => button.innerText.includes("Stop"));
    return area.getBoundingClientRect().right - stop.getBoundingClientRect().right;
  }, 4);
  await shot("long.png");
  await page.locator(".jp-OutputArea input[type=text]").click();
  await page.keyboard.type("Ponds");
  await page.keyboard.press("Enter");
  await ended(4);
  seen.entered = await output(4);

  await page.evaluate(() => window.jupyterapp.commands.execute("docmanager:save"));
  await page.locator(".jp-OutputArea summary").first().click();
  await shot("opened.png");
  seen.remote = remote;
  await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown());
} catch (error) {
  seen.error = String(error).slice(0, 500);
  await shot("failed.png");
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}
console.log(JSON.stringify(seen));
