/** Keys for programs, as their owner sees them. */
import { Field, ID, ObjectType } from 'type-graphql';
import type { ApiKey as ApiKeyRow } from '../../store/api-keys.js';
import { DateTimeScalar } from '../scalars.js';
import { connectionType } from './connection.js';
import { says } from './field.js';

@ObjectType({ description: 'A key for a program, which acts as its owner. Its secret is shown only when it is made.' })
export class ApiKey implements ApiKeyRow {
  @Field(() => ID, says('The identifier, which begins with `key_`.'))
  id: ApiKeyRow['id'];

  @Field(() => String, says('What the key is for.'))
  name: string;

  @Field(() => DateTimeScalar, says('When the key was made.'))
  createdAt: Date;

  @Field(() => DateTimeScalar, says('When the key ends by itself; null if it holds until it is revoked.', 'nullable'))
  expiresAt: Date | null;

  @Field(() => DateTimeScalar, says('When the key was last used, to the minute; null before that.', 'nullable'))
  lastUsedAt: Date | null;
}

@ObjectType({ description: 'A new API key, with its secret.' })
export class CreateApiKeyPayload {
  @Field(() => ApiKey, says('The key.'))
  apiKey: ApiKey;

  @Field(
    () => String,
    says('Send it as `Authorization: Bearer …`: `jmk_` and 40 letters and digits. It is shown this once.'),
  )
  secret: string;
}

@ObjectType({ description: 'An API key that has ended.' })
export class RevokeApiKeyPayload {
  @Field(() => ApiKey, says('The key, as it was.'))
  apiKey: ApiKey;
}

export const ApiKeyConnection = connectionType('ApiKey', () => ApiKey, 'API keys');
