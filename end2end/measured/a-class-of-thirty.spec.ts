import type { Page } from "@playwright/test";
import { classroom, joinBy } from "../classroom";
import { expect, expectAccessible, test } from "../fixtures";

/** How many students there are, and how many people each of them brings, ten at a time. */
const STUDENTS = 30;
const TIMES = 3;

// Traces of thirty-one browsers take most of the time of two cores.
test.use({ trace: "off" });

const room = classroom();

test("a class of thirty likes one post, and every screen counts the same", async ({ secondWindow }) => {
  // Thirty-one browsers on two cores.
  test.setTimeout(900_000);
  const teacher = await secondWindow(room.url);
  await teacher.goto("/lab/class");
  await expect(teacher.getByLabel("Token")).toBeVisible();
  await expectAccessible(teacher);
  await teacher.goto(room.desk);
  await expect(teacher).toHaveURL(/\/lab\/class$/);
  await expect(teacher.getByRole("img", { name: /QR code/ })).toBeVisible();
  await expectAccessible(teacher);

  const students: Page[] = [];
  for (let nth = 1; nth <= STUDENTS; nth++) {
    const page = await secondWindow(room.url);
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
