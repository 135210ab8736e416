/** The fields of a job that a person fills in, as creation and editing take them. */
import { z } from 'zod';
import { isRealDate } from '../../rules/dates.js';
import { TEXT } from '../../rules/limits.js';
import { URGENCIES } from '../../rules/publishing.js';
import { optionalText, requiredText } from '../shapes.js';

export const urgency = z.enum(URGENCIES).meta({ enumName: 'Urgency' });

const MONEY_MAX = 9_999_999_999.99;

/** Whole cents, exactly: a third decimal is refused rather than rounded. */
export const money = z
  .number()
  .min(0)
  .max(MONEY_MAX)
  .refine((amount) => Math.round(amount * 100) / 100 === amount, 'must have at most two decimals');

/** A date as text: which days there are is known here, and no time zone has a say. */
export const day = z
  .string()
  .refine(isRealDate, 'must be a day that exists, as YYYY-MM-DD')
  .meta({ format: 'date', day: true });

export const title = requiredText(TEXT.title).describe('What is to be done, in a line.');
export const description = requiredText(TEXT.long).describe('What is to be done, in full.');

export const furtherFields = {
  category: optionalText(TEXT.kind).describe(
    'The trade, such as `plumbing`; `catalog` suggests values. Required to publish.',
  ),
  budgetMin: money.nullish().describe('The least the homeowner expects to pay.'),
  budgetMax: money.nullish().describe('The most the homeowner wants to pay.'),
  urgency: urgency.nullish().describe('How soon; it sets the price of publishing. Required to publish.'),
  addressLine1: optionalText(TEXT.line).describe('Street and number; private. Required to publish.'),
  addressLine2: optionalText(TEXT.line).describe('More of the address; private.'),
  city: optionalText(TEXT.line).describe('The city. Required to publish.'),
  state: optionalText(TEXT.line).describe('The state. Required to publish.'),
  zipCode: optionalText(TEXT.line).describe('The postal code; private.'),
  country: optionalText(TEXT.line).describe('The country.'),
  desiredStartDate: day.nullish().describe('When the work should begin.'),
  desiredCompletionDate: day.nullish().describe('When the work should be done.'),
  requirements: optionalText(TEXT.long).describe('What a contractor must bring or know.'),
};
