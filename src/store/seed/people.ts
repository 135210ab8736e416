/** The people of a made-up market, with their sessions and their tokens. */
import type { TransactionSql } from 'postgres';
import type { Market } from './market.js';

const TOKENS_GRANTED = 1_000_000;
const SIGNUP_BONUS = { homeowner: 10, contractor: 25 };

export async function insertPeople(tx: TransactionSql, market: Market, passwordHash: string): Promise<void> {
  const people = market.homeowners + market.contractors + (market.uneven ? 3 : 0);
  const moment = `date_trunc('milliseconds', now()) - interval '600 days' + n * interval '1 minute'`;
  const firstName = `(array['Hanna','Olive','Otto','Ava','Ben','Stella','Carlos','Mina','Ravi','Zoe'])[1 + n % 10]`;
  const lastName = `(array['Hill','Cruz','Stone','Moss','Lake'])[1 + n / 10 % 5] || ' ' || n`;
  await tx.unsafe(
    `
    insert into users (id, email, user_type, first_name, last_name, phone, password_hash, referral_code, created_at,
      updated_at)
    select pg_temp.made('usr', n), 'person' || n || '@example.test', case when n % 2 = 1 then 'homeowner'
      else 'contractor' end::user_type,
      ${firstName}, ${lastName}, '+1 512 555 ' || lpad((n % 10000)::text, 4, '0'),
      $1, 'R' || lpad(upper(to_hex(n)), 7, 'Z'), ${moment}, ${moment}
    from generate_series(1, ${people}) n`,
    [passwordHash],
  );
  await tx.unsafe(`
    insert into homeowners (id, user_id, address_line1, city, state, zip_code, country, property_type, created_at,
      updated_at)
    select pg_temp.made('hmw', n), pg_temp.made('usr', n), n || ' Oak Lane', 'Austin', 'TX', '78704', 'US',
      'single_family', ${moment}, ${moment}
    from generate_series(1, ${people}, 2) n`);
  await tx.unsafe(`
    insert into contractors (id, user_id, person_name, company_name, business_type, license_number, license_state,
      years_in_business, service_areas, specialties, bio, created_at, updated_at)
    select pg_temp.made('ctr', n), pg_temp.made('usr', n), ${firstName} || ' ' || ${lastName}, 'Craft & Sons ' || n,
      'llc', 'M-' || n, 'TX', n % 30, '{Austin,Dallas}', '{plumbing,roofing}',
      'Leaks found and fixed, and roofs mended, by company number ' || n || '.', ${moment}, ${moment}
    from generate_series(2, ${people}, 2) n`);
  await tx.unsafe(`
    insert into sessions (id, user_id, created_at, ends_at)
    select pg_temp.made('ses', n), pg_temp.made('usr', n), now(), now() + interval '90 days'
      from generate_series(1, ${people}) n`);
  const bonus = `case when n % 2 = 1 then ${SIGNUP_BONUS.homeowner} else ${SIGNUP_BONUS.contractor} end`;
  await tx.unsafe(`
    insert into token_transfers (id, from_account, to_account, amount, reason, user_id, note, created_at)
    select pg_temp.made('ttx', 1000000000::bigint + 2 * n + given.at), 'issuance', pg_temp.made('usr', n),
      given.amount, given.reason::transfer_reason, pg_temp.made('usr', n), given.note, ${moment}
    from generate_series(1, ${people}) n,
      lateral (values (0, ${bonus}, 'signup_bonus', null), (1, ${TOKENS_GRANTED}, 'adjustment', 'Seeded.'))
        as given (at, amount, reason, note)`);
  await tx.unsafe(
    `insert into token_balances (user_id, balance) select pg_temp.made('usr', n), ${bonus} + ${TOKENS_GRANTED}
      from generate_series(1, ${people}) n`,
  );
}
