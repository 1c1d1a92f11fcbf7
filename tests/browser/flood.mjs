// A long answer that comes very fast: is the page still there for the person, and what does the kernel send for it?
import { open } from "./page.mjs";

const lab = await open();
const { seen } = lab;

await lab.drive(async () => {
  await lab.all(0);
  lab.iopub.reset();
  const began = Date.now();
  await lab.run(1);
  await lab.shows(1, "Paragraph 1 ");
  seen.clicks = await lab.latency(lab.given.clicks, 100);
  seen.while_streaming = await lab.running(1);
  await lab.ended(1);
  seen.seconds = (Date.now() - began) / 1000;
  seen.iopub = lab.iopub.told();
  seen.shown = await lab.output(1);
  await lab.save();
  await lab.shot("flood");
});
