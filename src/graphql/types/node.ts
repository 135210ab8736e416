/** Objects that can be read by their identifier alone. */
import { ID, InterfaceType, Field } from 'type-graphql';
import { kindOfId } from '../../rules/ids.js';
import { fieldOptions } from './field.js';

const TYPE_NAMES: Readonly<Record<string, string>> = {
  user: 'User',
  homeowner: 'Homeowner',
  contractor: 'Contractor',
  job: 'Job',
  bid: 'Bid',
  transfer: 'TokenTransfer',
};

export function typeOfNode({ id }: { id: string }): string | undefined {
  return TYPE_NAMES[kindOfId(id) ?? ''];
}

@InterfaceType('Node', {
  description: 'Whatever can be read again by its identifier alone, with `node(id)`.',
  resolveType: typeOfNode,
})
export abstract class Node {
  @Field(() => ID, fieldOptions('The identifier, whose prefix shows the kind.'))
  id: string;
}
