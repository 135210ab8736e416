/** The HTTP server: finds a request's caller, counts it against their quotas, and passes it to the right API. */
import { createServer, ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import type { Config } from './config.js';
import { openGraphqlApi } from '../platform/graphql/api.js';
import { openOffPage } from '../pages/playground/off-page.js';
import { openPlayground } from '../pages/playground/playground.js';
import { operationsOfSteps } from '../pages/playground/steps.js';
import { graphOf } from '../graphql/graph.js';
import { schema } from '../graphql/schema.js';
import { sendRefusal } from '../platform/graphql/content-type.js';
import {
  boundConnections,
  assertOriginMayOpen,
  answerInPlaceOfUpgrade,
  UpgradableRequest,
} from '../platform/http/connections.js';
import { answersUnderWay, beginAnswer } from '../platform/http/answers-under-way.js';
import { createDraining, serverStops } from '../platform/http/draining.js';
import { bearerOf, Exchange } from '../platform/http/exchange.js';
import type { Pages } from '../platform/http/pages/pages.js';
import { openFrontPage, siteLinks } from '../pages/front-page.js';
import { problemWithHead, warnOfProxy } from '../platform/http/requests.js';
import { answerPreflight, isPreflight, setCorsHeaders, setSecurityHeaders } from '../platform/http/browser-headers.js';
import { answerUnreadable } from '../platform/http/unreadable.js';
import { boundUnreadAnswers } from '../platform/http/unread.js';
import { openLinkPages } from '../pages/link-pages.js';
import { openLifecyclePage } from '../pages/lifecycle/page.js';
import { openMailbox } from '../pages/mailbox.js';
import { openUnsubscribePage } from '../pages/unsubscribe.js';
import { Caller } from '../platform/call/caller.js';
import type { Viewer } from '../market/rules/viewer.js';
import type { Services } from '../market/operations/services.js';
import { openOperatorAddresses } from './operator.js';
import { levelOf, lineOf } from '../platform/telemetry/record.js';
import { refuse } from '../market/rules/errors.js';
import { Refusal } from '../platform/errors.js';
import { openStripeWebhook } from '../rest/stripe-webhook.js';
import { openCheckoutPage } from '../pages/checkout.js';
import { openRestApi } from '../rest/adapter.js';
import { errorBody, sendFailure } from '../rest/answer.js';
import { openDescription } from '../rest/openapi/openapi.js';
import { openReference } from '../rest/swagger-page.js';
import { addressIdentity, believedAddress } from '../platform/security/address.js';
import { RequestUnderWay } from '../platform/quotas/quotas.js';
import { TEXT } from '../market/rules/market-limits.js';
import { HEAD } from '../platform/caller-limits.js';
import { TIMEOUTS, type Timeouts } from '../platform/service-limits.js';

export interface RunningServer {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/** nginx's status for a client that disconnected before the response. */
const CALLER_LEFT = 499;
/** The status that proxies send if the server closes the connection without a response. */
const SERVER_LEFT = 503;

const CUT_IN_STOPPING = 'this server is stopping: connection cut before the response';

const STREAM_PATH = '/graphql/stream';
const GRAPHQL_PATHS = ['/graphql', STREAM_PATH];
const UPGRADE_ROUTE = 'GET /graphql (WebSocket)';

const UNTRUSTED_PROXY =
  'a request came through a proxy while TRUST_PROXY_HOPS is 0: all callers behind it share the limits of one ' +
  'network address; set TRUST_PROXY_HOPS to the number of proxies';

export async function startServer(
  services: Services,
  config: Config,
  timeouts: Timeouts = TIMEOUTS,
): Promise<RunningServer> {
  const { quotas, metrics } = services;
  // Node would reject a missing Host itself, but not in the documented format.
  const server = createServer({
    headersTimeout: timeouts.headMs,
    requestTimeout: timeouts.requestMs,
    keepAliveTimeout: timeouts.idleMs,
    connectionsCheckingInterval: Math.min(1_000, timeouts.headMs / 2),
    maxHeaderSize: HEAD.bytesMax,
    requireHostHeader: false,
    IncomingMessage: UpgradableRequest,
  });
  const connections = boundConnections(server, quotas, addressOfSocket);
  const unreadAnswers = boundUnreadAnswers(quotas, timeouts);
  const { playground, demo } = config;
  const site = { playground, demo, mailbox: services.mail.mailboxSecret !== undefined, mail: services.mail.isOn };
  const links = siteLinks(site);
  // Nobody should pay real money in the playground's guide.
  const buying = services.payments.provider?.livemode === false;
  const graphqlPage = playground ? openPlayground(links, { buying }) : openOffPage(links);
  const reference = openReference(links);
  const lifecycle = openLifecyclePage(links, playground ? operationsOfSteps() : undefined, services.deadlines);
  const front = openFrontPage(site);
  const description = openDescription(() => config.PUBLIC_URL ?? urlOf(server, config.HOST));
  const graphqlSettings = {
    introspection: config.introspection,
    suggestions: config.introspection && config.NODE_ENV !== 'production',
    persistedDocumentsFile: config.PERSISTED_DOCUMENTS === 'only' ? config.PERSISTED_DOCUMENTS_FILE : undefined,
    redisUrl: config.REDIS_URL,
    sendPage: graphqlPage.send,
  };
  const graphql = await openGraphqlApi(graphOf(schema), services, graphqlSettings, { timeouts, unread: unreadAnswers });
  const rest = openRestApi();
  const cors = { origins: config.CORS_ORIGINS, headers: config.CORS_HEADERS };
  const noticeProxy = warnOfProxy(config.TRUST_PROXY_HOPS, (header) => services.log.warn({ header }, UNTRUSTED_PROXY));
  const linkPages = openLinkPages(links, appOrigin(config));
  const unsubscribePage = openUnsubscribePage({
    db: services.db,
    tokens: services.mail.tokens,
    links,
    appOrigin: appOrigin(config),
  });
  const pages = [
    graphqlPage,
    reference,
    description,
    lifecycle,
    front,
    linkPages,
    unsubscribePage,
    openCheckoutPage(services, links),
  ];
  const stripeWebhook = openStripeWebhook(services);
  const mailbox = openMailbox(services.db.of({ address: 'mailbox' }), services.mail, links);
  const draining = createDraining(timeouts, config.LAME_DUCK_SECONDS * 1_000);
  const operator = openOperatorAddresses(services, config, () => draining.isStopping);

  async function dispatch(exchange: Exchange): Promise<void> {
    setSecurityHeaders(exchange);
    setCorsHeaders(exchange, cors);
    const { path, record } = exchange;
    const isGraphql = GRAPHQL_PATHS.includes(path);
    const match = isGraphql ? undefined : rest.find(path);
    const isWebhook = stripeWebhook.handles(path);
    // At /lifecycle, browsers get a page, and programs get the resource.
    const isRest = match !== undefined && (path.startsWith('/v1/') || !exchange.wantsPage);
    const isApi = isGraphql || isWebhook || isRest;
    // At /, browsers get a page, and programs get the operators' index.
    const isForOperator = !isApi && operator.handles(path) && !(path === '/' && exchange.wantsPage);
    const page = isApi ? undefined : pageOf(exchange);
    if (!isForOperator && !page) record.api = isGraphql ? 'graphql' : 'rest';
    const preflight = isPreflight(exchange);
    // A preflight doesn't count. No page could read its error, and the request that follows it counts.
    const caller = isForOperator || preflight ? undefined : admit(exchange);
    const problem = problemWithHead(exchange.request);
    if (problem) {
      exchange.response.setHeader('Connection', 'close');
      throw problem;
    }
    if (preflight) return answerPreflight(exchange, cors);
    if (!caller) return operator.send(exchange);
    if (isGraphql) {
      exchange.route = `${exchange.method} ${path}`;
      return path === STREAM_PATH ? graphql.handleStream(exchange, caller) : graphql.handle(exchange, caller);
    }
    if (isWebhook) return stripeWebhook.send(exchange);
    return page ? page.send(exchange) : rest.handle(exchange, match, caller);
  }

  function pageOf(exchange: Exchange): Pick<Pages, 'send'> | undefined {
    return mailbox.handles(exchange) ? mailbox : pages.find((one) => one.handles(exchange.path));
  }

  /** Counts the request against the caller's quota. Throws a refusal if too many are in progress. */
  function admit(exchange: Exchange): Caller<Viewer, Services> {
    const caller = new Caller<Viewer, Services>(services, {
      record: exchange.record,
      requestId: exchange.requestId,
      client: exchange.client,
      bearer: bearerOf(exchange.header('authorization')),
      idempotencyKey: exchange.header('idempotency-key'),
      program: programOf(exchange.header('user-agent')),
    });
    exchange.rateLimitResults = caller.rateLimitResults;
    const underWay = new RequestUnderWay(quotas.requests, caller.client);
    caller.underWay = underWay;
    exchange.response.once('close', () => underWay.end());
    return caller;
  }

  function handleRequest(request: IncomingMessage, response: ServerResponse): void {
    const began = performance.now();
    beginAnswer(response);
    noticeProxy(request);
    const address = believedAddress(request.socket.remoteAddress ?? '', forwardedFor(request), config.TRUST_PROXY_HOPS);
    const exchange = new Exchange(request, response, address, draining, quotas);
    const logged = () => ({ requestId: exchange.requestId, route: exchange.route });
    unreadAnswers.follow(response, exchange.client, () =>
      services.log.warn(logged(), 'response not read by the client: connection closed'),
    );
    response.on('close', () => logClosed(exchange, began));
    dispatch(exchange).catch((error: unknown) => {
      if (response.headersSent || response.destroyed) return void response.destroy();
      if (!GRAPHQL_PATHS.includes(exchange.path)) return sendFailure(exchange, error, { services });
      if (error instanceof Refusal) return sendRefusal(exchange, error);
      services.log.error({ err: error, ...logged() }, 'a request failed');
      sendRefusal(exchange, refuse('INTERNAL'));
    });
  }

  /** Records metrics and logs the request once its response is complete or its connection is closed. */
  function logClosed(exchange: Exchange, began: number): void {
    const { record, response } = exchange;
    const ms = (exchange.streamBeganMs ?? performance.now()) - began;
    const isCut = draining.isCutting && !response.writableFinished;
    const status = response.headersSent ? response.statusCode : isCut ? SERVER_LEFT : CALLER_LEFT;
    const isForOperator = record.api === undefined && operator.handles(exchange.path);
    metrics.observe(exchange.route, status, ms / 1000, isForOperator);
    // A stream was counted when it opened, and gets its own log line when it ends.
    if (exchange.streamBeganMs !== undefined) return;
    if (response.headersSent) metrics.recordAnswer(record, ms / 1000);
    const line = {
      requestId: exchange.requestId,
      method: exchange.method,
      route: exchange.route,
      status,
      ms: Math.round(ms * 10) / 10,
      ...lineOf(record, exchange.client),
    };
    const isRoutine = isForOperator && operator.isRoutine(exchange.path, status);
    if (response.writableFinished) services.log[isRoutine ? 'debug' : levelOf(record, status)](line, 'answered');
    else services.log.warn(line, isCut ? CUT_IN_STOPPING : 'client disconnected before the response');
  }

  /** Passes a WebSocket to GraphQL's streams, or rejects it with an ordinary response. */
  function upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    // Node has removed its own listener. Without one, an 'error' event would end the process.
    socket.on('error', () => socket.destroy());
    // The client would read the pending responses as the WebSocket's data.
    if (answersUnderWay(socket).size > 0) return void socket.destroy();
    noticeProxy(request);
    const address = believedAddress(socket.remoteAddress ?? '', forwardedFor(request), config.TRUST_PROXY_HOPS);
    const response = new ServerResponse(request);
    const exchange = new Exchange(request, response, address, draining, quotas);
    const { requestId, client } = exchange;
    const refuseUpgrade = (refusal: Refusal) => {
      answerInPlaceOfUpgrade(socket, response);
      setSecurityHeaders(exchange);
      sendRefusal(exchange, refusal);
      metrics.observe(UPGRADE_ROUTE, refusal.status, 0);
      services.log.info({ requestId, route: UPGRADE_ROUTE, codes: [refusal.code] }, 'a WebSocket was refused');
    };
    try {
      const problem = problemWithHead(request);
      if (problem) throw problem;
      if (draining.isDraining) throw serverStops();
      assertOriginMayOpen(request, cors);
      const release = quotas.webSockets.take(client);
      graphql.webSockets.open({ request, socket, head, client, release, refuse: refuseUpgrade });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refuseUpgrade(error);
    }
  }

  server.maxRequestsPerSocket = 0;
  // Node silently drops headers above its limit. One extra header shows that there were too many.
  server.maxHeadersCount = HEAD.headersMax + 1;
  server.on('request', handleRequest);
  server.on('checkExpectation', handleRequest);
  server.on('upgrade', (request, socket, head) => upgrade(request, socket as Socket, head));
  answerUnreadable(server, HEAD.bytesMax, errorBody);
  await listen(server, { port: config.PORT, host: config.HOST, backlog: quotas.limits.connections.total });

  return {
    port: portOf(server),
    url: urlOf(server, config.HOST),
    close: async () => {
      await draining.drain({
        server,
        endStreams: graphql.endStreams,
        refuseWaiting: () => services.passwords.stop(serverStops),
        closeUnused: connections.closeUnused,
      });
      await graphql.stop();
    },
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** The origin of the app that email links open, if there is one. Its users log in there. */
function appOrigin({ APP_RESET_URL, APP_VERIFY_URL, APP_JOB_URL }: Config): string | undefined {
  const page = APP_RESET_URL ?? APP_VERIFY_URL ?? APP_JOB_URL;
  return page === undefined ? undefined : new URL(page).origin;
}

/** The server's URL. Valid once the server listens. */
function urlOf(server: Server, host: string): string {
  return `http://${hostInUrl(host)}:${portOf(server)}`;
}

function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** The name that the client program sends for itself, made safe to show to people. */
function programOf(header: string | undefined): string | null {
  return (
    header
      ?.replaceAll(/[^ -~]/g, '?')
      .slice(0, TEXT.line)
      .trim() || null
  );
}

function addressOfSocket({ remoteAddress = '' }: Socket): string {
  return addressIdentity(remoteAddress);
}

function forwardedFor(request: IncomingMessage): string | undefined {
  const header = request.headers['x-forwarded-for'];
  return Array.isArray(header) ? header.join(',') : header;
}

function listen(server: Server, where: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
