import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "../fixtures";
import { Running } from "../running";

/** How many students there are, and how many people each of them brings, ten at a time. */
const STUDENTS = 30;
const TIMES = 3;

let folder: string;
let server: Running;
let url: string;
let desk: string;

// Traces of thirty-one browsers take most of the time of two cores.
test.use({ trace: "off" });

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "spillway-class-"));
  const settings = { SPILLWAY_CLASSROOM: "on", SPILLWAY_STORE: `embedded:${join(folder, "data")}` };
  server = new Running(folder, settings, "demo town");
  url = await server.says(/http:\/\/\S+/);
  desk = await server.says(/http:\S+\?token=\S+/);
});

test.afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function joinBy(page: Page, name: string): Promise<void> {
  await page.goto("/lab/class");
  await page.getByLabel("Your name").fill(name);
  await page.getByRole("button", { name: "Join" }).click();
  await expect(page.getByRole("heading", { name: `You are in, ${name}` })).toBeVisible();
}

test("a class of thirty storms one post, and every screen counts the same", async ({ secondWindow }) => {
  // Thirty-one browsers on two cores, which other tests keep busy.
  test.setTimeout(600_000);
  const teacher = await secondWindow(url);
  await teacher.goto("/lab/class");
  await expect(teacher.getByLabel("Token")).toBeVisible();
  await expectAccessible(teacher);
  await teacher.goto(desk);
  await expect(teacher).toHaveURL(/\/lab\/class$/);
  await expect(teacher.getByRole("img", { name: /QR code/ })).toBeVisible();
  await expectAccessible(teacher);

  const students: Page[] = [];
  for (let nth = 1; nth <= STUDENTS; nth++) {
    const page = await secondWindow(url);
    await joinBy(page, `Student ${nth}`);
    students.push(page);
  }
  await expectAccessible(students[0]!);

  // Each brings people without leaving the page, and likes the post personally.
  await Promise.all(
    students.map(async (page) => {
      for (let time = 0; time < TIMES; time++) {
        const answered = page.waitForResponse((response) => response.url().endsWith("/api/bring_people"));
        await page.getByRole("button", { name: "Add 10 people" }).click();
        expect((await answered).status()).toBe(200);
      }
      await page.getByTestId("like-button").first().click();
      await expect(page.getByTestId("like-button").first()).toHaveAttribute("aria-pressed", "true");
    }),
  );

  const all = STUDENTS * TIMES * 10 + STUDENTS;
  for (const page of [teacher, ...students]) {
    await expect(page.getByTestId("class-total")).toHaveText(String(all));
    await expect(page.getByTestId("class-brought")).toHaveText(String(all - STUDENTS));
    await expect(page.getByTestId("like-count").first()).toHaveText(new RegExp(`\\b${all}\\b`));
  }
  await teacher.getByRole("link", { name: "Count the items one by one" }).click();
  await expect(teacher.getByTestId("class-verdict")).toContainText(`${all} items by as many people`);

  await teacher.getByRole("button", { name: "Reset the class" }).click();
  for (const page of [teacher, ...students]) {
    await expect(page.getByTestId("class-total")).toHaveText("0");
  }
  await students[0]!.reload();
  await expect(students[0]!.getByRole("heading", { name: "You are in, Student 1" })).toBeVisible();
});

test("phones follow the teacher, vote before the answers are shown, and see them", async ({
  secondWindow,
}) => {
  test.setTimeout(180_000);
  const [teacher, ada, bob] = [await secondWindow(url), await secondWindow(url), await secondWindow(url)];
  await teacher.goto(desk);
  await joinBy(ada, "Ada");
  await joinBy(bob, "Bob");

  await teacher.goto("/lab/race");
  await teacher.keyboard.press("p");
  await teacher.getByRole("button", { name: "Show this to the class" }).click();
  await expect(teacher.getByTestId("voted")).toContainText("0 of ");
  await expect(ada.getByText("The class is at “The race for the last place”.")).toBeVisible();
  await ada.getByRole("button", { name: "Follow the teacher" }).click();
  await expect(ada).toHaveURL("/lab/race");
  await bob.getByRole("link", { name: "Go there" }).click();
  await expectAccessible(ada);

  await ada.getByRole("button", { name: "There is one item too many" }).click();
  await expect(ada.getByRole("button", { name: "There is one item too many" })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await bob.getByRole("button", { name: "One item is lost" }).focus();
  await bob.keyboard.press("Enter");
  await expect(teacher.getByTestId("voted")).toContainText(/^2 of /);
  await expect(ada.getByTestId("answers")).toBeHidden();
  await teacher.getByRole("button", { name: "Show the answers" }).click();
  for (const page of [teacher, ada, bob]) {
    await expect(page.getByTestId("answers").getByRole("listitem")).toHaveText([
      /^0 /,
      /^1 .* Right/,
      /^1 .*lost/,
    ]);
    await expectAccessible(page);
  }
  await expect(bob.getByTestId("answers")).toContainText("One item is lost (your vote)");

  await teacher.keyboard.press("ArrowRight");
  await expect(teacher).toHaveURL("/lab/crash");
  await expect(ada).toHaveURL("/lab/crash");
  await expect(bob.getByText("The class is at “A crash in the wrong place”.")).toBeVisible();
  await expect(bob).toHaveURL("/lab/race");
  await ada.getByRole("button", { name: "Stay here" }).click();
  await expect(ada.getByRole("button", { name: "Follow the teacher" })).toBeVisible();

  await ada.goto("/lab/exercises");
  const race = ada.getByRole("listitem").filter({ hasText: "2. The race" });
  await race.getByRole("textbox").fill("aabb");
  await race.getByRole("button", { name: "Try it" }).click();
  await expect(ada.getByTestId("exercise-verdict")).toContainText("Not yet.");
  await teacher.goto("/lab/class");
  const progress = teacher.getByRole("group", { name: "Exercises" });
  const row = progress.getByRole("row", { name: /^Ada / });
  await expect(row.getByRole("cell").nth(1)).toContainText("not solved after 1 try");
  await race.getByRole("textbox").fill("abab");
  await race.getByRole("button", { name: "Try it" }).click();
  await expect(row.getByRole("cell").nth(1)).toContainText("solved after 2 tries");
  await expectAccessible(teacher);
});
