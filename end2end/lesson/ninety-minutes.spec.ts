import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { classroom, joinBy } from "../classroom";
import { expect, test } from "../fixtures";
import { binary } from "../server";
import { signUp } from "../storm";

const STUDENTS = 3;
const TIMES_AS_FAST = 20;

/** A minute of the timetable in docs/workshop/README.md, in milliseconds. */
const MINUTE = 60_000 / TIMES_AS_FAST;

test.use({ trace: "off" });

const room = classroom();

test("thirty students go through the ninety minutes at twenty times the speed", async ({ secondWindow }) => {
  test.setTimeout(1_800_000);
  const teacher = await secondWindow(room.url);
  await signUp(teacher, room.url, "teacher");
  await teacher.goto(room.desk);
  const students: Page[] = [];
  for (let nth = 1; nth <= STUDENTS; nth++) {
    const page = await secondWindow(room.url);
    await joinBy(page, `Student ${nth}`);
    students.push(page);
  }
  const before = memory();
  const visits = visitHome();
  const began = Date.now();

  /** One entry of the timetable: the teacher shows the station, and each student works on it when they get to it. */
  const station = async (
    minutes: number,
    path: string,
    work: (page: Page, nth: number) => Promise<void>,
    lead?: () => Promise<void>,
  ) => {
    const due = Date.now() + minutes * MINUTE;
    await teacher.goto(path);
    const show = teacher.getByRole("button", { name: "Show this to the class" });
    if (await show.isVisible()) await show.click();
    const polls = (await teacher.getByTestId("voted").count()) > 0;
    const took: number[] = [];
    const led = lead?.();
    await Promise.all(
      students.map(async (page, nth) => {
        // Half of the time is for looking and thinking.
        await page.waitForTimeout((nth / STUDENTS) * (minutes / 2) * MINUTE);
        const start = Date.now();
        await page.goto(path);
        took.push(Date.now() - start);
        if (polls) {
          const options = page.getByTestId("poll").getByRole("button");
          await options.nth(nth % (await options.count())).click();
        }
        await work(page, nth);
      }),
    );
    await led;
    if (polls) {
      await expect(teacher.getByTestId("voted")).toContainText(`${STUDENTS} of ${STUDENTS}`);
      await teacher.getByRole("button", { name: "Show the answers" }).click();
      const answers = teacher.getByTestId("answers").getByRole("listitem");
      await expect(answers.first()).toBeVisible();
      const votes = (await answers.allInnerTexts()).map((text) => Number(/\d+/.exec(text)![0]));
      expect(votes.reduce((sum, more) => sum + more, 0)).toBe(STUDENTS);
    }
    const late = Math.max(0, Date.now() - due);
    console.log(
      `${path}: pages loaded in ${median(took)} ms (median), ${Math.max(...took)} ms (slowest); ` +
        (late > 0 ? `${late} ms late` : "in time"),
    );
    await teacher.waitForTimeout(Math.max(0, due - Date.now()));
  };

  await station(10, "/lab/inspect", async (page, nth) => {
    await page
      .locator("main a[href^='/lab/inspect/']")
      .nth(nth % 3)
      .click();
    await expect(page.getByTestId("chain").first()).toBeVisible();
  });
  await station(10, "/lab/layouts", async (page) => {
    await page.getByRole("link", { name: "1,000", exact: true }).click();
    await expect(page).toHaveURL(/largest=1000/);
  });
  await station(12, "/lab/race", async (page) => {
    for (const name of ["Ada", "Bob", "Ada", "Bob"]) {
      await page.getByRole("link", { name: `Let ${name} do this` }).click();
    }
    await expect(page.getByTestId("verdict")).toContainText("1,001");
  });
  await station(12, "/lab/crash", async (page) => {
    await page
      .getByRole("link", { name: /After write 1/ })
      .first()
      .click();
    await expect(page).toHaveURL(/after=/);
  });
  await station(12, "/lab/class", async (page) => {
    for (let time = 0; time < 3; time++) {
      const answered = page.waitForResponse((response) => response.url().endsWith("/api/bring_people"));
      await page.getByRole("button", { name: "Add 10 people" }).click();
      expect((await answered).status()).toBe(200);
    }
    await page.getByTestId("like-button").first().click();
    await expect(page.getByTestId("like-button").first()).toHaveAttribute("aria-pressed", "true");
  });
  for (const page of [teacher, ...students]) {
    await expect(page.getByTestId("class-total")).toHaveText(String(STUDENTS * 31));
  }
  await station(8, "/lab/trace", async (page) => {
    for (const way of [/^Scroll on/, "To the oldest"]) await page.getByRole("link", { name: way }).click();
    await expect(page.getByTestId("trace").locator("tbody tr")).toHaveCount(3);
  });
  await station(
    8,
    "/lab/migrate",
    async (page) => {
      await expect(page.getByTestId("verdict")).toContainText("The list is correct", { timeout: 120_000 });
    },
    async () => {
      await teacher.getByLabel("The array has").selectOption("1000");
      await teacher.getByRole("button", { name: "Start the likes and the migration" }).click();
    },
  );
  await station(8, "/lab/decide", async (page) => {
    const [question, advice] = [page.getByTestId("question"), page.getByTestId("advice")];
    while (await question.isVisible()) {
      const asked = page.url();
      await question.getByRole("link").first().click();
      await page.waitForURL((url) => url.href !== asked);
      await expect(question.or(advice)).toBeVisible();
    }
    await expect(advice).toBeVisible();
  });
  await station(10, "/lab/exercises", async (page, nth) => {
    const race = page.getByRole("listitem").filter({ hasText: "2. The race" });
    for (const [answer, verdict] of [
      ["aabb", "Not yet."],
      ["abab", "Right."],
    ] as const) {
      await race.getByRole("textbox").fill(answer);
      await race.getByRole("button", { name: "Try it" }).click();
      await expect(race.getByTestId("exercise-verdict")).toContainText(verdict);
    }
    await page.goto("/lab/console");
    for (const line of [`db.c.insertOne({ _id: ${nth} })`, "db.c.countDocuments()"]) {
      await page.getByTestId("console-input").fill(line);
      await page.getByRole("button", { name: "Run" }).click();
      const answer = page.getByTestId("console-output").getByRole("listitem").first();
      await expect(answer).toContainText(line);
      await expect(answer.locator("pre")).toHaveText(line.includes("insert") ? /acknowledged: true/ : "1");
    }
  });
  console.log(
    `the lesson took ${Math.round((Date.now() - began) / 1_000)} s, and the timetable ${(90 * MINUTE) / 1_000} s`,
  );

  await teacher.goto("/lab/class");
  const progress = teacher.getByRole("group", { name: "Exercises" });
  for (let nth = 1; nth <= STUDENTS; nth++) {
    const cell = progress
      .getByRole("row", { name: `Student ${nth} ` })
      .getByRole("cell")
      .nth(1);
    await expect(cell).toContainText("solved after 2 tries");
  }
  await teacher.getByRole("link", { name: "Count the items one by one" }).click();
  await expect(teacher.getByTestId("class-verdict")).toContainText(
    `${STUDENTS * 31} items by as many people`,
  );
  await teacher.getByRole("button", { name: "Reset the class" }).click();
  await expect(teacher.getByTestId("class-total")).toHaveText("0");
  for (const page of students) await page.close();

  const took = await visits();
  const tenth = Math.floor(took.length / 9);
  console.log(
    `somebody else's home page: ${median(took.slice(0, tenth))} ms (median) in the first ten minutes, ` +
      `${median(took.slice(-tenth))} ms in the last ten`,
  );
  await teacher.goto("about:blank");
  await expect.poll(openStreams, "streams that stay open").toBe(0);
  const after = memory();
  console.log(`memory of the server: ${megabytes(before)} before, ${megabytes(after)} afterwards`);
  await room.stop();
  const env = { ...process.env, SPILLWAY_STORE: room.store };
  console.log(execFileSync(binary, ["check"], { env, encoding: "utf8" }).trim());
});

/** How many event streams are open, by the server's own metrics. */
async function openStreams(): Promise<number> {
  const metrics = await (await fetch(room.metrics)).text();
  return Number(/^spillway_event_streams (\d+)$/m.exec(metrics)![1]);
}

/** The resident memory of the server, in bytes, where the system tells it. */
function memory(): number {
  const status = `/proc/${room.id}/status`;
  return existsSync(status) ? 1_024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(status, "utf8"))![1]) : NaN;
}

/** Somebody who is in no class visits the home page each second. Ends them, and tells how long each visit took. */
function visitHome(): () => Promise<number[]> {
  const took: number[] = [];
  let over = false;
  const visits = (async () => {
    while (!over) {
      const start = Date.now();
      const page = await fetch(room.url, { headers: { accept: "text/html" } });
      expect(page.status).toBe(200);
      await page.text();
      took.push(Date.now() - start);
      await new Promise((waited) => setTimeout(waited, 1_000));
    }
    return took;
  })();
  return () => {
    over = true;
    return visits;
  };
}

function median(numbers: number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1]!;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}
