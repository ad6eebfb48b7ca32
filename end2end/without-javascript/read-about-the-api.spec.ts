import { expect, test } from "../fixtures";

test("the API is explained from the same description that programs get", async ({ page, request }) => {
  await page.goto("/");
  await page.getByRole("link", { name: "the API" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("API");

  const operation = page.locator("details", { hasText: "/api/v1/posts/{id}/like" }).first();
  await operation.locator("summary").click();
  await expect(operation.getByText("It requires a session.")).toBeVisible();
  await operation.getByRole("link", { name: "ReactionState" }).click();
  await expect(page).toHaveURL(/#ReactionState$/);

  const description = await request.get("/api/v1/openapi.json");
  const { paths } = (await description.json()) as { paths: Record<string, Record<string, unknown>> };
  const operations = Object.values(paths).flatMap((methods) => Object.keys(methods));
  await expect(page.locator("details.operation")).toHaveCount(operations.length);
});
