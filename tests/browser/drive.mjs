// Drives one notebook in JupyterLab and prints what a person saw, as one JSON object.
import { open } from "./page.mjs";

const { page, seen, run, ended, output, shows, shot, drive } = await open();

await drive(async () => {
  await run(0);
  await ended(0);

  await run(1);
  await page.waitForSelector(".jp-OutputArea button:has-text('Stop')");
  await shows(1, "writing");
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
  seen.hacked = await page.evaluate(() => window.hacked);
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
});
