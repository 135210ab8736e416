/** The fields of a job that a person fills in, as creation and editing take them. */
import { JOB } from '../../rules/entities/job.js';
import { REQUIRED_TO_PUBLISH } from '../../rules/publishing.js';
import { writtenInputs } from '../written.js';

/** What creation asks for anyway is not said to be asked for by publishing. */
const ALWAYS_THERE: readonly string[] = ['title', 'description'];

const neededToPublish = (name: string) =>
  REQUIRED_TO_PUBLISH.some((required) => required === name) && !ALWAYS_THERE.includes(name);

const fields = writtenInputs(JOB, (name, words) => (neededToPublish(name) ? `${words} Required to publish.` : words));

export const fieldsOfNewJob = { ...fields, title: fields.title.unwrap(), description: fields.description.unwrap() };

/** Null is understood in every field, so that a title of null is refused by name. */
export const fieldsOfEditedJob = {
  ...fields,
  title: fields.title.nullable(),
  description: fields.description.nullable(),
};
