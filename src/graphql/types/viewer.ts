/** The caller's own account, which a client's first query starts with. */
import { ObjectType } from 'type-graphql';
import { VIEWER } from '../../market/rules/entities/session.js';
import { FieldsOf } from './field.js';
import { Node } from './node.js';

@ObjectType({ implements: Node, description: VIEWER.description })
@FieldsOf(VIEWER)
export class Viewer {}
