// A turn in Notebook 7 in a real browser: its panel, its answer, Stop, and what is there after a reload.
// Arguments: address of the server, notebook, folder for screenshots.
import { launch } from "../browser/browser.mjs";

const [base, notebook, shots] = process.argv.slice(2);
const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1100, height: 820 } });
page.setDefaultTimeout(180000);
const seen = {}; // not of errors in the page: Notebook has some of its own

const cells = () => page.locator(".jp-Notebook .jp-CodeCell");
const output = (cell) => cells().nth(cell).locator(".jp-Cell-outputArea").innerText();
const stop = (cell) => cells().nth(cell).getByRole("button", { name: "Stop" });
const ended = (cell) => page.waitForFunction((cell) => /\[\d+\]/.test(document.querySelectorAll(".jp-Notebook .jp-CodeCell")[cell]
  .querySelector(".jp-InputPrompt").textContent), cell);
const run = async (cell) => {
  await cells().nth(cell).locator(".jp-InputArea-editor").click();
  await page.keyboard.press("Control+Enter");
};

try {
  await page.goto(`${base}/notebooks/${notebook}`, { waitUntil: "domcontentloaded" });
  await cells().first().waitFor();
  await page.locator(".jp-NotebookKernelStatus, .jp-NotebookKernelLogo").first().waitFor({ state: "attached" });
  await page.waitForTimeout(2000);
  await run(0); await ended(0);

  await run(1);
  await stop(1).waitFor();
  await ended(1);
  seen.answer = await output(1);

  await run(2);
  await stop(2).waitFor();
  await page.screenshot({ path: `${shots}/running.png` });
  await stop(2).click();
  await ended(2);
  seen.stopped = await output(2);
  seen.left = await stop(2).count();

  await page.keyboard.press("Control+s");
  await page.waitForTimeout(1000);
  await page.reload({ waitUntil: "domcontentloaded" });
  await cells().nth(1).locator(".jp-Cell-outputArea").waitFor();
  seen.reloaded = await output(1);
  await page.screenshot({ path: `${shots}/finished.png` });
} catch (error) {
  seen.error = String(error.stack || error).slice(0, 1200);
  await page.screenshot({ path: `${shots}/failed.png` }).catch(() => {});
}
await browser.close();
console.log(JSON.stringify(seen));
