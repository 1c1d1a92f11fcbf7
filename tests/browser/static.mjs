// Pages that were exported, opened in a browser that runs no scripts: what a reader sees of each output.
// Arguments: a folder of pages, and a folder for screenshots.
import { chromium } from "playwright-core";
import { readdirSync } from "fs";
import path from "path";

const [, , folder, shots] = process.argv;
const browser = await chromium.connectOverCDP(process.env.HERMES_BROWSER);
const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1000, height: 900 } });
const seen = {};
for (const name of readdirSync(folder).filter((each) => each.endsWith(".html")).sort()) {
  const page = await context.newPage();
  const remote = [];
  page.on("request", (request) => { if (!request.url().startsWith("file:")) remote.push(request.url()); });
  await page.goto(`file://${path.join(folder, name)}`);
  const cells = await page.evaluate(() => [...document.querySelectorAll(".jp-CodeCell")].map((cell) =>
    [...cell.querySelectorAll(".jp-OutputArea-output")].map((output) => ({
      text: output.innerText,
      height: Math.round(output.getBoundingClientRect().height),
      wide: output.scrollWidth > output.clientWidth + 1,
      scripts: output.querySelectorAll("script").length,
      pictures: output.querySelectorAll("svg, img").length,
    }))));
  seen[name] = { cells, remote };
  await page.screenshot({ path: path.join(shots, name.replace(".html", ".png")), fullPage: true });
  await page.close();
}
await context.close();
await browser.close();
console.log(JSON.stringify(seen));
