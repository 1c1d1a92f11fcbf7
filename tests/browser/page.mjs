// A notebook in JupyterLab in a real browser, and what a test may do with it.
import { chromium } from "playwright-core";
import { mkdtempSync, rmSync } from "fs";
import { tmpdir } from "os";
import path from "path";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
  "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"];

export async function open(base, notebook, shots) {
  const profile = mkdtempSync(path.join(tmpdir(), "hermes-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: FLAGS,
    viewport: { width: 1100, height: 820 }, timeout: 60000,
  });
  const page = context.pages()[0] || (await context.newPage());
  page.setDefaultTimeout(30000);
  const seen = { remote: [] };
  page.on("request", (request) => {
    if (!request.url().startsWith(base) && request.url().startsWith("http")) seen.remote.push(request.url());
  });

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

  async function load() {
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
  }

  // Runs `steps` on the loaded notebook and prints what was `seen`; what went wrong is a part of it.
  async function drive(steps) {
    try {
      await load();
      await steps();
      await page.evaluate(() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown());
    } catch (error) {
      seen.error = String(error).slice(0, 500);
      await shot("failed.png");
    } finally {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    }
    console.log(JSON.stringify(seen));
  }

  return { page, seen, run, ended, output, shows, shot, load, drive };
}
