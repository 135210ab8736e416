/** Objects that can be read by their identifier. */
import { ID, InterfaceType, Field } from 'type-graphql';
import { kindOfId, type IdKind } from '../../market/rules/ids.js';
import { fieldOptions } from './field.js';

const TYPE_NAMES: { readonly [Kind in IdKind]?: string } = {
  user: 'User',
  homeowner: 'Homeowner',
  contractor: 'Contractor',
  job: 'Job',
  bid: 'Bid',
  transfer: 'TokenTransfer',
  hold: 'Hold',
  event: 'JobEvent',
  review: 'Review',
  proposal: 'DisputeProposal',
  webhookEndpoint: 'WebhookEndpoint',
  webhookDelivery: 'WebhookDelivery',
  apiKey: 'ApiKey',
  session: 'ActiveSession',
  adminAction: 'AdminAction',
  viewer: 'Viewer',
};

export function typeOfNode({ id }: { id: string }): string | undefined {
  const kind = kindOfId(id);
  return kind && TYPE_NAMES[kind];
}

@InterfaceType('Node', {
  description: 'An object that you can read by its ID with `node(id)`.',
  resolveType: typeOfNode,
})
export abstract class Node {
  @Field(() => ID, fieldOptions('The ID. Its prefix shows the type of object.'))
  id: string;
}
