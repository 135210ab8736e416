/**
 * A double of Stripe's API, with the state that Checkout needs. Stripe's own SDK talks to it, and Stripe's own types
 * describe what it returns. A test decides when a buyer pays, and when Stripe refuses, is down, or loses a response.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Stripe } from 'stripe';

type Session = Pick<
  Stripe.Checkout.Session,
  | 'id'
  | 'object'
  | 'client_reference_id'
  | 'url'
  | 'status'
  | 'payment_status'
  | 'amount_total'
  | 'currency'
  | 'livemode'
  | 'expires_at'
  | 'success_url'
  | 'payment_link'
> & { payment_intent: string | null };
type Payment = Pick<Stripe.PaymentIntent, 'id' | 'object' | 'status' | 'amount'> & { latest_charge: Charge | null };
type Charge = Pick<Stripe.Charge, 'id' | 'object' | 'receipt_url'>;
type Refund = Pick<Stripe.Refund, 'id' | 'object' | 'status' | 'amount' | 'currency' | 'metadata'> & {
  payment_intent: string;
};
type Dispute = Pick<Stripe.Dispute, 'id' | 'object' | 'status' | 'amount' | 'currency' | 'livemode'> & {
  payment_intent: string;
};
export type StripeEvent = Pick<Stripe.Event, 'id' | 'object' | 'type' | 'livemode' | 'created'> & {
  data: { object: object };
};

export const STRIPE_SECRETS = { key: 'sk_test_ofTheTests', webhook: 'whsec_of_the_tests' };

export class StripeDouble {
  readonly sessions = new Map<string, Session>();
  readonly payments = new Map<string, Payment>();
  readonly refunds = new Map<string, Refund>();
  readonly disputes = new Map<string, Dispute>();
  /** What Stripe would send to the webhook, in order. */
  readonly events: StripeEvent[] = [];
  /** The method and path of each call that arrived. */
  readonly calls: string[] = [];
  isDown = false;
  /** The next call does its work, but its response is lost. */
  losesAnswer = false;
  refusesCheckouts = false;
  /** Each call that contains this ID fails, although Stripe can be reached. */
  failsFor: string | undefined;
  /** Awaited before the response to the call that caused the event. */
  onEvent: ((event: StripeEvent) => Promise<unknown>) | undefined;
  /** Whether the next refunds succeed immediately, stay pending, or are refused. */
  refundsAre: 'succeeded' | 'pending' | 'refused' = 'succeeded';
  #count = 0;
  readonly #answers = new Map<string, { params: string; body: object }>();
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  /** The configuration of a server that uses this double. */
  async open(): Promise<Record<string, string>> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this.settings();
  }

  settings(): Record<string, string> {
    return {
      STRIPE_SECRET_KEY: STRIPE_SECRETS.key,
      STRIPE_WEBHOOK_SECRET: STRIPE_SECRETS.webhook,
      STRIPE_API_URL: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`,
    };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  sessionOf(purchaseId: string): Session {
    const session = [...this.sessions.values()].find((one) => one.client_reference_id === purchaseId);
    if (!session) throw new Error(`Stripe has no session for ${purchaseId}.`);
    return session;
  }

  paymentOf(purchaseId: string): Payment {
    return found(this.payments, this.sessionOf(purchaseId).payment_intent ?? '');
  }

  /** The buyer pays with a card. */
  pay(purchaseId: string): StripeEvent {
    const session = this.#complete(purchaseId, 'succeeded');
    session.payment_status = 'paid';
    return this.#emit('checkout.session.completed', session);
  }

  /** The buyer pays in a way that takes days. */
  payLater(purchaseId: string): StripeEvent {
    return this.#emit('checkout.session.completed', this.#complete(purchaseId, 'processing'));
  }

  arrive(purchaseId: string): StripeEvent {
    const session = this.sessionOf(purchaseId);
    const payment = this.paymentOf(purchaseId);
    payment.status = 'succeeded';
    payment.latest_charge = this.#charge();
    session.payment_status = 'paid';
    return this.#emit('checkout.session.async_payment_succeeded', session);
  }

  fail(purchaseId: string): StripeEvent {
    this.paymentOf(purchaseId).status = 'requires_payment_method';
    return this.#emit('checkout.session.async_payment_failed', this.sessionOf(purchaseId));
  }

  expire(purchaseId: string): StripeEvent {
    const session = this.sessionOf(purchaseId);
    if (session.status === 'open') Object.assign(session, { status: 'expired', url: null });
    return this.#emit('checkout.session.expired', { ...session, status: 'expired', payment_status: 'unpaid' });
  }

  /** Ends a pending refund. A refund can also fail after it succeeded. */
  endRefund(refund: Refund, status: 'succeeded' | 'failed'): StripeEvent {
    refund.status = status;
    return this.#emit(status === 'failed' ? 'refund.failed' : 'refund.updated', refund);
  }

  dispute(purchaseId: string, status: Dispute['status'] = 'needs_response'): Dispute {
    const dispute: Dispute = {
      id: this.#id('du'),
      object: 'dispute',
      status,
      amount: this.paymentOf(purchaseId).amount,
      currency: 'usd',
      livemode: false,
      payment_intent: this.paymentOf(purchaseId).id,
    };
    this.disputes.set(dispute.id, dispute);
    this.#emit('charge.dispute.created', dispute);
    return dispute;
  }

  changeDispute(dispute: Dispute, status: Dispute['status']): StripeEvent {
    dispute.status = status;
    return this.#emit('charge.dispute.updated', dispute);
  }

  closeDispute(dispute: Dispute, status: 'won' | 'lost'): StripeEvent {
    dispute.status = status;
    return this.#emit('charge.dispute.closed', dispute);
  }

  /** The money that was paid, minus refunds. */
  moneyOf(purchaseId: string): number {
    const session = this.sessionOf(purchaseId);
    if (session.payment_status !== 'paid') return 0;
    const refunds = [...this.refunds.values()].filter(({ payment_intent: id }) => id === session.payment_intent);
    return refunds.reduce(
      (sum, { status, amount }) => sum - (status === 'succeeded' ? amount : 0),
      session.amount_total ?? 0,
    );
  }

  event(type: string, object: object, more: Partial<StripeEvent> = {}): StripeEvent {
    return {
      id: this.#id('evt'),
      object: 'event',
      type: type as StripeEvent['type'],
      livemode: false,
      created: Math.floor(Date.now() / 1_000),
      data: { object: structuredClone(object) },
      ...more,
    };
  }

  #emit(type: string, object: object): StripeEvent {
    const event = this.event(type, object);
    this.events.push(event);
    return event;
  }

  #complete(purchaseId: string, status: Payment['status']): Session {
    const session = this.sessionOf(purchaseId);
    const payment: Payment = {
      id: this.#id('pi'),
      object: 'payment_intent',
      status,
      amount: session.amount_total ?? 0,
      latest_charge: status === 'succeeded' ? this.#charge() : null,
    };
    this.payments.set(payment.id, payment);
    return Object.assign(session, { status: 'complete', url: null, payment_intent: payment.id });
  }

  #charge(): Charge {
    const id = this.#id('ch');
    return { id, object: 'charge', receipt_url: `https://pay.stripe.com/receipts/${id}` };
  }

  #id(prefix: string): string {
    this.#count += 1;
    return `${prefix}_test_${this.#count}`;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const url = new URL(request.url ?? '', 'http://stripe.test');
    this.calls.push(`${request.method} ${url.pathname}`);
    if (this.isDown) return void request.socket.destroy();
    if (this.failsFor !== undefined && `${url.pathname} ${body}`.includes(this.failsFor)) {
      response.writeHead(500, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify(refusal('api_error', 'Something went wrong.')));
    }
    const known = this.events.at(-1);
    const answer = this.#once(String(request.headers['idempotency-key'] ?? ''), body, () =>
      this.#route(request.method ?? '', url, new URLSearchParams(body)),
    );
    const event = this.events.at(-1);
    if (event !== known && event) await this.onEvent?.(event);
    if (this.losesAnswer) {
      this.losesAnswer = false;
      return void request.socket.destroy();
    }
    const isError = 'error' in answer;
    response.writeHead(isError ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  }

  /** Stripe repeats the response to an idempotency key, and refuses the key with other parameters. */
  #once(key: string, params: string, work: () => object): object {
    const earlier = key === '' ? undefined : this.#answers.get(key);
    if (earlier && earlier.params !== params) return refusal('idempotency_error', 'Keys can only be used once.');
    const body = earlier?.body ?? structuredClone(work());
    if (key !== '') this.#answers.set(key, { params, body });
    return body;
  }

  #route(method: string, { pathname, searchParams }: URL, params: URLSearchParams): object {
    const [, , resource, ...rest] = pathname.split('/');
    const intent = searchParams.get('payment_intent');
    if (resource === 'checkout' && method === 'POST') return this.#createSession(params);
    if (resource === 'checkout' && rest[1] !== undefined) {
      const session = this.sessions.get(rest[1]);
      return session ? this.#expanded(session) : refusal('invalid_request_error', `No such session: ${rest[1]}`);
    }
    if (!this.payments.has(intent ?? params.get('payment_intent') ?? ''))
      return refusal('invalid_request_error', `No such payment_intent: ${intent}`);
    if (resource === 'checkout') {
      const sessions = [...this.sessions.values()].filter((one) => one.payment_intent === intent);
      return { object: 'list', has_more: false, data: sessions.map((one) => this.#expanded(one)) };
    }
    if (method === 'POST') return this.#createRefund(params);
    const refunds = [...this.refunds.values()].filter((one) => one.payment_intent === intent);
    return { object: 'list', has_more: false, data: refunds };
  }

  #expanded(session: Session): object {
    const { payment_intent: id } = session;
    return { ...session, payment_intent: id === null ? null : found(this.payments, id) };
  }

  #createSession(params: URLSearchParams): object {
    const expiresAt = Number(params.get('expires_at'));
    const isTooSoon = expiresAt < Date.now() / 1_000 + 30 * 60;
    if (this.refusesCheckouts || isTooSoon) return refusal('invalid_request_error', 'Stripe won’t open this checkout.');
    const id = this.#id('cs');
    const session: Session = {
      id,
      object: 'checkout.session',
      client_reference_id: params.get('client_reference_id'),
      url: `https://checkout.stripe.com/c/pay/${id}`,
      status: 'open',
      payment_status: 'unpaid',
      amount_total: Number(params.get('line_items[0][price_data][unit_amount]')),
      currency: params.get('line_items[0][price_data][currency]'),
      livemode: false,
      expires_at: expiresAt,
      success_url: params.get('success_url'),
      payment_intent: null,
      payment_link: null,
    };
    this.sessions.set(id, session);
    return session;
  }

  #createRefund(params: URLSearchParams): object {
    const intent = params.get('payment_intent') ?? '';
    const isDisputed = [...this.disputes.values()].some((one) => one.payment_intent === intent && one.status !== 'won');
    if (this.refundsAre === 'refused' || isDisputed) return refusal('invalid_request_error', 'The charge is disputed.');
    const earlier = [...this.refunds.values()].filter(
      (one) => one.payment_intent === intent && one.status !== 'failed',
    );
    const amount = Number(params.get('amount'));
    const total = earlier.reduce((sum, one) => sum + one.amount, amount);
    if (total > found(this.payments, intent).amount) return refusal('invalid_request_error', 'Too much.');
    const metadata = Object.fromEntries(
      [...params].flatMap(([name, value]) => {
        const [, key] = /^metadata\[(\w+)\]$/.exec(name) ?? [];
        return key === undefined ? [] : [[key, value]];
      }),
    );
    const refund: Refund = {
      id: this.#id('re'),
      object: 'refund',
      status: this.refundsAre,
      amount,
      currency: 'usd',
      metadata,
      payment_intent: intent,
    };
    this.refunds.set(refund.id, refund);
    this.#emit('refund.created', refund);
    return refund;
  }
}

function refusal(type: string, message: string): object {
  return { error: { type, message } };
}

function found<T>(map: ReadonlyMap<string, T>, id: string): T {
  const one = map.get(id);
  if (one === undefined) throw new Error(`Stripe has no ${id}.`);
  return one;
}

interface Delivery {
  readonly secret?: string;
  readonly at?: number;
  /** Replaces the right one. */
  readonly signature?: string;
}

const signer = new Stripe(STRIPE_SECRETS.key);

/** Sends an event to a server, signed as Stripe signs it. */
export function deliver(url: string, event: object, { secret = STRIPE_SECRETS.webhook, at, ...given }: Delivery = {}) {
  const payload = JSON.stringify(event);
  const timestamp = at ?? Math.floor(Date.now() / 1_000);
  const signature =
    given.signature === undefined
      ? signer.webhooks.generateTestHeaderString({ payload, secret, timestamp })
      : `t=${timestamp},v1=${given.signature}`;
  return fetch(`${url}/v1/payments/stripe`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    body: payload,
  });
}
