import { classroom, joinBy } from "../classroom";
import { expect, expectAccessible, test } from "../fixtures";

const room = classroom();

test("phones follow the teacher, vote before the answers are shown, and see them", async ({
  secondWindow,
}) => {
  test.setTimeout(180_000);
  const [teacher, ada, bob] = [
    await secondWindow(room.url),
    await secondWindow(room.url),
    await secondWindow(room.url),
  ];
  await teacher.goto(room.desk);
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
