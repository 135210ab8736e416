/** What a visitor does in the playground, and what they see. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Each tab, with text in its response that shows success. */
export const STORY: Readonly<Record<string, string>> = {
  SignUp: '"tokensAwarded": 10',
  WhoAmI: '"userType": "HOMEOWNER"',
  CreateJob: '"status": "DRAFT"',
  PublishJob: '"tokensCharged": 5',
  SignUpContractor: '"tokensAwarded": 25',
  SubmitBid: '"held": 5',
  ReviseBid: '"amount": 260',
  ReadJob: '"bidCount": 1',
  AwardJob: '"status": "AWARDED"',
  CheckIn: '"status": "IN_PROGRESS"',
  SubmitForReview: '"status": "IN_REVIEW"',
  RequestChanges: '"type": "JOB_CHANGES_REQUESTED"',
  SubmitAgain: '"status": "IN_REVIEW"',
  ApproveJob: '"completedJobs": 1',
  CreateSecondJob: '"status": "DRAFT"',
  PublishSecondJob: '"available": 0',
  BidAgain: '"status": "PENDING"',
  AwardAndReopen: '"status": "REJECTED"',
  SignUpSecondContractor: '"companyName": "Cora’s Colors"',
  BidInstead: '"status": "PENDING"',
  AwardAgain: '"status": "AWARDED"',
  DeclineAndBidAgain: '"amount": 200',
  AwardOnceMore: '"status": "AWARDED"',
  WorkAgain: '"status": "IN_REVIEW"',
  DisputeJob: '"status": "DISPUTED"',
  ProposeSettlement: '"resolution": "Half the price."',
  EscalateJob: '"status": "ESCALATED"',
  LogInAsAdmin: '"userType": "ADMIN"',
  AdminDesk: '"Paint the fence"',
  VerifyContractor: '"verified": true',
  ReachDecision: '"status": "DECISION_REACHED"',
  FileAppeal: '"status": "APPEALED"',
  FinalizeAppeal: '"status": "COMPLETED"',
  ReadDispute: '"appeal": {',
  CheckTheClock: '"now"',
  GiveTokens: '"amount": 5',
  CreateThirdJob: '"status": "DRAFT"',
  PublishThirdJob: '"action": "EXPIRE"',
  ExtendDeadline: '"action": "EXPIRE"',
  BidOnThirdJob: '"status": "PENDING"',
  AwardThirdJob: '"upcoming": []',
  FinishThirdJob: '"status": "IN_REVIEW"',
  SeeTheDeadline: '"action": "APPROVE"',
  TwoWeeks: '"twoDays"',
  ReadReminders: '"type": "JOB_AUTO_APPROVED"',
  ReviewLater: '"rating": 5',
  CreateUrgentJob: '"status": "DRAFT"',
  NotEnoughTokens: '"pack": "small"',
  BuyTokens: '"status": "PENDING"',
  PublishUrgentJob: '"available": 20',
  SaveSearch: '"alert": "DAILY"',
  GiveMoreTokens: '"amount": 5',
  CreateMatchingJob: '"status": "DRAFT"',
  PublishMatchingJob: '"status": "OPEN"',
  WatchMatches: '"title": "A new job matches your search"',
  ReadMatches: '"title": "A new job matches your search"',
  CreateWebhookEndpoint: '"secret": "whsec_',
  ReplayPastEvents: '"nextAfter": null',
  ReadDeliveries: '"previousPosition": "',
  FillGap: '"replayedCount": 1',
  WatchMyEvents: '"type": "JOB_PUBLISHED"',
  ReadNotifications: '"emailProblem": "UNCONFIRMED"',
  SeveralErrors: '"code": "VALIDATION_FAILED"',
  WrongInput: '"title": "must not be blank"',
  WrongState: '"code": "INVALID_TRANSITION"',
  WrongPerson: '"code": "FORBIDDEN"',
  WrongToken: '"reason": "malformed"',
  RefreshSession: '"refreshExpiresAt"',
  ListSessions: '"isCurrent": true',
  RequestPasswordReset: '"requested": true',
  SuspendContractor: '"suspendedUntil": null',
  RestoreContractor: '"suspendedAt": null',
  ReadAdminActions: '"action": "suspendUser"',
  CreateApiKey: '"secret": "jmk_',
};

/** One click must be enough. */
export async function openTab(page: Page, name: string): Promise<void> {
  const tab = page.locator('.graphiql-tab-button').getByText(name, { exact: true });
  // Tabs of other chapters aren't shown.
  if (await tab.isVisible()) await tab.click();
  else await page.getByLabel('Step', { exact: true }).selectOption(String(Object.keys(STORY).indexOf(name)));
  await expectOpen(page, name);
}

export async function expectOpen(page: Page, name: string): Promise<void> {
  const written = async () => textOf(await page.locator('.graphiql-query-editor .view-line').allTextContents());
  await expect.poll(written, { timeout: 100_000 }).toMatch(new RegExp(`(query|mutation|subscription) ${name}\\b`));
}

export const tabNames = (page: Page) => page.locator('.graphiql-tab-button').allTextContents();
export const guideText = (page: Page) => page.locator('#guide-text').textContent();

export async function boxOf(
  page: Page,
  selector: string,
): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await page.locator(selector).first().boundingBox();
  if (!box) throw new Error(`${selector} is not shown.`);
  return box;
}

/** What a visitor does on other pages before they run a step. */
export const FIRST: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  PublishUrgentJob: async (page) => {
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: '/checkout' }).click();
    const checkout = await opened;
    await checkout.getByRole('button', { name: 'Pay', exact: true }).click();
    await checkout.getByText('You paid').waitFor();
    await checkout.close();
  },
};

export async function run(page: Page): Promise<void> {
  await page.locator('.graphiql-execute-button').click();
}

export async function expectAnswer(page: Page, part: string): Promise<void> {
  await expect.poll(() => answerOn(page), { timeout: 100_000 }).toContain(part);
}

export async function answerOn(page: Page): Promise<string> {
  return textOf(await page.locator('.graphiql-response .view-line').allTextContents());
}

/** The editor uses non-breaking spaces, and wraps long lines. */
function textOf(lines: string[]): string {
  return lines.join(' ').replaceAll(/\s+/g, ' ');
}
