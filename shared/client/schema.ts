/**
 * The types of the interface, and the names of its int64 fields: from docs/openapi.json.
 * Do not edit: `npm run client` writes this file.
 */
export interface paths {
  readonly '/inventory': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the stock of every pet
     * @description All stock entries, ascending by `petId`. Without parameters the answer is the whole list, however long, streamed as it is read. With `limit` it is a page,
     *     whose `Link` header leads to the next. With `Accept-Encoding: gzip` it comes compressed, a tenth of its size. See [Lists](#description/lists).
     */
    readonly get: operations['listInventory'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    /**
     * List the stock of every pet, without the body
     * @description The headers of the answer to GET.
     */
    readonly head: operations['listInventoryHead'];
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/inventory/{petId}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly get?: never;
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    readonly head?: never;
    /**
     * Set the stock of one pet
     * @description Sets the quantity of one pet: for new arrivals, returns or manual adjustments. Its status stays as it is.
     *     Setting the same quantity twice is safe. See [Safe updates](#description/safe-updates) for several clients at work on one pet.
     */
    readonly patch: operations['updateInventory'];
    readonly trace?: never;
  };
  readonly '/pets/{petId}': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * Get a pet
     * @deprecated
     * @description What a pet is called, its kind, pictures and tags. Its status is that of its stock entry. See [Deprecations](#description/deprecations): the operation is deprecated since 21 November 2026, and may be gone from 30 November 2027 on.
     */
    readonly get: operations['getPet'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    /**
     * Get a pet, without the body
     * @deprecated
     * @description The headers of the answer to GET.
     */
    readonly head: operations['getPetHead'];
    readonly patch?: never;
    readonly trace?: never;
  };
  readonly '/store/orders': {
    readonly parameters: {
      readonly query?: never;
      readonly header?: never;
      readonly path?: never;
      readonly cookie?: never;
    };
    /**
     * List the orders
     * @description All orders, ascending by `id`. Without parameters the answer is the whole list, however long, streamed as it is read. With `limit` it is a page,
     *     whose `Link` header leads to the next. With `Accept-Encoding: gzip` it comes compressed, a tenth of its size. See [Lists](#description/lists).
     */
    readonly get: operations['listOrders'];
    readonly put?: never;
    readonly post?: never;
    readonly delete?: never;
    readonly options?: never;
    /**
     * List the orders, without the body
     * @description The headers of the answer to GET.
     */
    readonly head: operations['listOrdersHead'];
    readonly patch?: never;
    readonly trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description Stock level of one pet */
    readonly InventoryItem: {
      /**
       * Format: int64
       * @description The pet that the entry tracks
       */
      readonly petId: bigint;
      /**
       * Format: int32
       * @description Current stock count
       */
      readonly quantity: number;
      /** @description Status of the pet */
      readonly status: components['schemas']['PetStatus'];
    };
    /** @description Stock levels, ascending by petId */
    readonly InventoryList: readonly components['schemas']['InventoryItem'][];
    /** @description What an update sets */
    readonly InventoryUpdate: {
      /**
       * Format: int32
       * @description The new stock count
       */
      readonly quantity: number;
    };
    /**
     * @description Status of a pet
     * @enum {string}
     */
    readonly PetStatus: 'available' | 'pending' | 'sold';
    /** @description A kind of animal */
    readonly PetCategory: {
      /** Format: int64 */
      readonly id: bigint;
      readonly name: string;
    };
    /** @description A label of a pet */
    readonly PetTag: {
      /** Format: int64 */
      readonly id: bigint;
      readonly name: string;
    };
    /** @description A pet, with the status of its stock entry */
    readonly Pet: {
      /**
       * Format: int64
       * @description The petId
       */
      readonly id: bigint;
      /** @description The kind of animal */
      readonly category?: components['schemas']['PetCategory'];
      /** @description What the pet is called */
      readonly name: string;
      /** @description Pictures of the pet */
      readonly photoUrls: readonly string[];
      /** @description Labels, such as for a search */
      readonly tags?: readonly components['schemas']['PetTag'][];
      /** @description Status of the stock entry; absent where there is none */
      readonly status?: components['schemas']['PetStatus'];
    };
    /** @description An order for a pet */
    readonly Order: {
      /**
       * Format: int64
       * @description The order
       */
      readonly id: bigint;
      /**
       * Format: int64
       * @description The pet that was ordered
       */
      readonly petId: bigint;
      /**
       * Format: int32
       * @description How many of it
       */
      readonly quantity: number;
      /**
       * Format: date-time
       * @description When it is shipped
       */
      readonly shipDate?: string;
      /** @description How far it has come */
      readonly status: components['schemas']['OrderStatus'];
      /** @description Whether all is done */
      readonly complete: boolean;
    };
    /** @description Orders, ascending by id */
    readonly OrderList: readonly components['schemas']['Order'][];
    /**
     * @description How far an order has come
     * @enum {string}
     */
    readonly OrderStatus: 'placed' | 'approved' | 'delivered';
    /** @description Body of every answer that is an error */
    readonly Error: {
      /**
       * @description Machine-readable error code: what a program goes by
       * @enum {string}
       */
      readonly code:
        | 'BAD_REQUEST'
        | 'INVALID_PET_ID'
        | 'INVALID_QUERY'
        | 'INVALID_CURSOR'
        | 'INVALID_HEADER'
        | 'INVALID_BODY'
        | 'API_KEY_MISSING'
        | 'API_KEY_INVALID'
        | 'FORBIDDEN'
        | 'TOKEN_READ_ONLY'
        | 'PET_NOT_FOUND'
        | 'ROUTE_NOT_FOUND'
        | 'METHOD_NOT_ALLOWED'
        | 'PRECONDITION_FAILED'
        | 'PAYLOAD_TOO_LARGE'
        | 'UNSUPPORTED_MEDIA_TYPE'
        | 'IDEMPOTENCY_KEY_REUSED'
        | 'RATE_LIMIT_EXCEEDED'
        | 'DAILY_QUOTA_EXCEEDED'
        | 'API_KEY_SUSPENDED'
        | 'TOO_MANY_REQUESTS'
        | 'INTERNAL_ERROR'
        | 'BAD_GATEWAY'
        | 'SERVICE_UNAVAILABLE'
        | 'GATEWAY_TIMEOUT';
      /** @description Human-readable description, one line; its words may change */
      readonly message: string;
      /**
       * Format: int32
       * @description The HTTP status code
       */
      readonly status: number;
    };
  };
  responses: {
    /**
     * @description `API_KEY_MISSING`, `API_KEY_INVALID`
     *
     *     - `API_KEY_MISSING`: The request has no Authorization header, has several, or has one of another form than Bearer \<API_KEY>. Add the header. A key in the query string or in another header is not looked at.
     *     - `API_KEY_INVALID`: No such key was ever issued, its checksum does not fit (a typo), or it was disabled, revoked, ended, rotated with its grace over, or has expired. Check the key letter by letter, or ask the admin of the store for a new one.
     */
    readonly Unauthorized: {
      headers: {
        readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
        readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        readonly RateLimit: components['headers']['RateLimit'];
        readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
        readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
        readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
        readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
        readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
        readonly 'Cache-Control': components['headers']['Cache-Control'];
        readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
        readonly 'WWW-Authenticate': components['headers']['WWW-Authenticate'];
        readonly [name: string]: unknown;
      };
      content: {
        readonly 'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          readonly code?: 'API_KEY_MISSING' | 'API_KEY_INVALID';
          /** @constant */
          readonly status?: 401;
        };
      };
    };
    /** @description `FORBIDDEN`: The firewall in front of the service took the request for an attack, or its address for a flood. Slow down, and check the request for patterns that look like an attack. */
    readonly Forbidden: {
      headers: {
        readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
        readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        readonly RateLimit: components['headers']['RateLimit'];
        readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
        readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
        readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
        readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
        readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
        readonly 'Cache-Control': components['headers']['Cache-Control'];
        readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
        readonly [name: string]: unknown;
      };
      content: {
        readonly 'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          readonly code?: 'FORBIDDEN';
          /** @constant */
          readonly status?: 403;
        };
      };
    };
    /** @description `BAD_GATEWAY`: The operation crashed or gave no proper answer. An update may or may not have happened. Try again with exponential backoff; an update with the Idempotency-Key of the first try. */
    readonly BadGateway: {
      headers: {
        readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
        readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        readonly RateLimit: components['headers']['RateLimit'];
        readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
        readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
        readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
        readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
        readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
        readonly 'Cache-Control': components['headers']['Cache-Control'];
        readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
        readonly [name: string]: unknown;
      };
      content: {
        readonly 'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          readonly code?: 'BAD_GATEWAY';
          /** @constant */
          readonly status?: 502;
        };
      };
    };
    /** @description `GATEWAY_TIMEOUT`: The operation did not finish in time. An update may or may not have happened. Try again with exponential backoff; an update with the Idempotency-Key of the first try. */
    readonly GatewayTimeout: {
      headers: {
        readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
        readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
        readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
        readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
        readonly RateLimit: components['headers']['RateLimit'];
        readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
        readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
        readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
        readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
        readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
        readonly 'Cache-Control': components['headers']['Cache-Control'];
        readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
        readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
        readonly [name: string]: unknown;
      };
      content: {
        readonly 'application/json': components['schemas']['Error'] & {
          /** @enum {string} */
          readonly code?: 'GATEWAY_TIMEOUT';
          /** @constant */
          readonly status?: 504;
        };
      };
    };
  };
  parameters: {
    /**
     * @description The pet
     * @example 101
     */
    readonly PetId: bigint;
    /**
     * @description Entries on a page; the Link header leads to the next. Without it: the whole list, streamed.
     * @example 100
     */
    readonly Limit: number;
    /**
     * @description Where to go on, from the Link header of the page before
     * @example bGlzdEludmVudG9yeTo6MTAz
     */
    readonly Cursor: string;
    /**
     * @description Only entries with this status
     * @example available
     */
    readonly PetStatusFilter: components['schemas']['PetStatus'];
    /**
     * @description Only entries with this status
     * @example placed
     */
    readonly OrderStatusFilter: components['schemas']['OrderStatus'];
    /**
     * @description The `ETag` of an earlier answer, or several: where this one would be the same, it is 304 without a body.
     * @example W/"kEr0qOdpC3nZBvVx"
     */
    readonly IfNoneMatch: string;
    /**
     * @description The `ETag` of the version that the update is meant for, or several; `*` stands for any. If the entry has changed since, the answer is 412 and nothing is done.
     * @example "mX0aVbq3Zk1T"
     */
    readonly IfMatch: string;
    /**
     * @description Made anew for each update, such as a UUID: one text of 1 to 255 printable ASCII characters in double quotes, with a backslash before each quote and backslash in it; a text without these and without spaces may come without the quotes (IETF draft-ietf-httpapi-idempotency-key-header). Once the update is done, sending the same request again with the same key within 24 hours gives the same answer, and changes nothing.
     * @example "8e03978e-40d5-43dd-bc93-6894a57f9324"
     */
    readonly IdempotencyKey: string;
  };
  requestBodies: never;
  headers: {
    /**
     * @description Requests in the window (UTC minute or day) that has the least left
     * @example 60
     */
    readonly 'X-RateLimit-Limit': number;
    /**
     * @description Requests left in that window
     * @example 59
     */
    readonly 'X-RateLimit-Remaining': number;
    /**
     * @description When that window ends, in Unix seconds
     * @example 1795253280
     */
    readonly 'X-RateLimit-Reset': bigint;
    /**
     * @description Both windows: their quotas `q`, and their lengths `w` in seconds (IETF draft-ietf-httpapi-ratelimit-headers)
     * @example "minute";q=60;w=60, "day";q=1000;w=86400
     */
    readonly 'RateLimit-Policy': string;
    /**
     * @description What remains `r` of both windows, and in how many seconds `t` each ends
     * @example "minute";r=59;t=30, "day";r=999;t=52350
     */
    readonly RateLimit: string;
    /**
     * @description The origins whose pages a browser lets read the answer: all
     * @example *
     */
    readonly 'Access-Control-Allow-Origin': string;
    /**
     * @description The headers that such a page may read
     * @example X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit-Policy, RateLimit, Accept-Patch, Allow, Deprecation, ETag, Link, Retry-After, Sunset, WWW-Authenticate, X-API-Stability, x-amzn-RequestId
     */
    readonly 'Access-Control-Expose-Headers': string;
    /**
     * @description Names the request: say it when you report a problem
     * @example 8e03978e-40d5-43dd-bc93-6894a57f9324
     */
    readonly 'x-amzn-RequestId': string;
    /**
     * @description Names the request within API Gateway
     * @example Bq3kXH1dIAMEVXw=
     */
    readonly 'x-amz-apigw-id': string;
    /**
     * @description Names the trace of the request, where there is one
     * @example Root=1-6920303a-4f1c2d3e5a6b7c8d9e0f1a2b
     */
    readonly 'X-Amzn-Trace-Id': string;
    /**
     * @description How to authenticate, and `error="invalid_token"` where a key was sent (RFC 6750)
     * @example Bearer realm="pet-store-inventory", error="invalid_token"
     */
    readonly 'WWW-Authenticate': string;
    /**
     * @description The answer is not to be kept
     * @example no-store
     */
    readonly 'Cache-Control': string;
    /**
     * @description The answer is what its Content-Type says
     * @example nosniff
     */
    readonly 'X-Content-Type-Options': string;
    /**
     * @description Browsers come back by HTTPS only (RFC 6797)
     * @example max-age=63072000
     */
    readonly 'Strict-Transport-Security': string;
    /**
     * @description Methods of the path
     * @example PATCH, OPTIONS
     */
    readonly Allow: string;
    /**
     * @description What the body of a PATCH must be (RFC 5789)
     * @example application/json
     */
    readonly 'Accept-Patch': string;
    /**
     * @description Seconds to wait before the next try
     * @example 30
     */
    readonly 'Retry-After': number;
    /**
     * @description Names this answer: sent as `If-None-Match`, it makes the answer 304 as long as nothing has changed
     * @example W/"kEr0qOdpC3nZBvVx"
     */
    readonly ReadETag: string;
    /**
     * @description The version of the stock entry: for `If-Match`
     * @example "mX0aVbq3Zk1T"
     */
    readonly ETag: string;
    /**
     * @description Request headers that the form of the answer depends on
     * @example Accept-Encoding
     */
    readonly Vary: string;
    /**
     * @description How the body is compressed, where `Accept-Encoding` allows it
     * @example gzip
     */
    readonly 'Content-Encoding': string;
    /**
     * @description Where the next page is. It is absent on the last page, and where no `limit` was given.
     * @example </v1/inventory?limit=2&cursor=bGlzdEludmVudG9yeTo6MTAz>; rel="next"
     */
    readonly NextPage: string;
    /**
     * @description The stability mark of the operation
     * @example experimental
     */
    readonly 'X-API-Stability': 'experimental' | 'beta';
    /**
     * @description Since when the operation is deprecated (RFC 9745)
     * @example @1795219200
     */
    readonly Deprecation: string;
    /**
     * @description When the operation may go (RFC 8594)
     * @example Tue, 30 Nov 2027 00:00:00 GMT
     */
    readonly Sunset: string;
    /**
     * @description Where to read about the deprecation and the sunset
     * @example <https://pets.example.com/#description/deprecations>; rel="deprecation"; type="text/html", <https://pets.example.com/#description/deprecations>; rel="sunset"; type="text/html"
     */
    readonly DeprecationPages: string;
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  readonly listInventory: {
    readonly parameters: {
      readonly query?: {
        /**
         * @description Entries on a page; the Link header leads to the next. Without it: the whole list, streamed.
         * @example 100
         */
        readonly limit?: components['parameters']['Limit'];
        /**
         * @description Where to go on, from the Link header of the page before
         * @example bGlzdEludmVudG9yeTo6MTAz
         */
        readonly cursor?: components['parameters']['Cursor'];
        /**
         * @description Only entries with this status
         * @example available
         */
        readonly status?: components['parameters']['PetStatusFilter'];
      };
      readonly header?: {
        /**
         * @description The `ETag` of an earlier answer, or several: where this one would be the same, it is 304 without a body.
         * @example W/"kEr0qOdpC3nZBvVx"
         */
        readonly 'If-None-Match'?: components['parameters']['IfNoneMatch'];
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The stock entries */
      readonly 200: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly Link: components['headers']['NextPage'];
          readonly Vary: components['headers']['Vary'];
          readonly 'Content-Encoding': components['headers']['Content-Encoding'];
          /**
           * @description Names this answer: sent as `If-None-Match`, it makes the answer 304 as long as nothing has changed
           * @example W/"kEr0qOdpC3nZBvVx"
           */
          readonly ETag?: string;
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['InventoryList'];
        };
      };
      /** @description Nothing has changed since the answer that `If-None-Match` names */
      readonly 304: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly Link: components['headers']['NextPage'];
          readonly Vary: components['headers']['Vary'];
          readonly ETag: components['headers']['ReadETag'];
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /**
       * @description `INVALID_QUERY`, `INVALID_CURSOR`, `BAD_REQUEST`
       *
       *     - `INVALID_QUERY`: A list was asked for with a parameter that it does not have, one given twice, or a value out of its range. Correct the parameter that the message names: a list takes limit, cursor and status.
       *     - `INVALID_CURSOR`: The cursor was changed, cut off, or taken from another list or with another status. Follow the Link header of a page as it is, or begin again without a cursor.
       *     - `BAD_REQUEST`: The request line, a header or the encoding is not valid HTTP, or the gateway could not read the request. Check the request line, the headers and the body.
       */
      readonly 400: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'INVALID_QUERY' | 'INVALID_CURSOR' | 'BAD_REQUEST';
            /** @constant */
            readonly status?: 400;
          };
        };
      };
      readonly 401: components['responses']['Unauthorized'];
      readonly 403: components['responses']['Forbidden'];
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 16 KiB, or than the gateway takes. Send only the fields that the operation knows. */
      readonly 413: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'PAYLOAD_TOO_LARGE';
            /** @constant */
            readonly status?: 413;
          };
        };
      };
      /**
       * @description `RATE_LIMIT_EXCEEDED`, `DAILY_QUOTA_EXCEEDED`, `API_KEY_SUSPENDED`, `TOO_MANY_REQUESTS`
       *
       *     - `RATE_LIMIT_EXCEEDED`: The key has made all requests of the current UTC minute that its plan allows. The refused request does not count against the day. Wait as many seconds as Retry-After says, then back off exponentially.
       *     - `DAILY_QUOTA_EXCEEDED`: The key has made all requests of the current UTC day that its plan allows. The next day begins at 00:00 UTC. Wait as many seconds as Retry-After says, or move to a higher plan.
       *     - `API_KEY_SUSPENDED`: The key was refused as often within one minute as it may make requests in it, which suspends it for five minutes; or the admin of the store has suspended it for a time. Stop all requests with this key for as many seconds as Retry-After says.
       *     - `TOO_MANY_REQUESTS`: Requests come so fast that the gateway refuses some of them by itself: those over a limit or of a suspended key, or all clients together send more than an operation takes. It does not say which it is, and the limit headers are 0, which means unknown. Wait as many seconds as Retry-After says. The limit headers of the next answer say what is left.
       */
      readonly 429: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly 'Retry-After': components['headers']['Retry-After'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'RATE_LIMIT_EXCEEDED' | 'DAILY_QUOTA_EXCEEDED' | 'API_KEY_SUSPENDED' | 'TOO_MANY_REQUESTS';
            /** @constant */
            readonly status?: 429;
          };
        };
      };
      /** @description `INTERNAL_ERROR`: The service ran into a fault of its own. It is logged under the request id. Try again later; if it stays, report the x-amzn-RequestId header of the answer. */
      readonly 500: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'INTERNAL_ERROR';
            /** @constant */
            readonly status?: 500;
          };
        };
      };
      readonly 502: components['responses']['BadGateway'];
      /** @description `SERVICE_UNAVAILABLE`: The database is out of reach or throttling, or many update the same pet at once. The request was not carried out, unless the message says that nobody can tell. Wait as many seconds as Retry-After says, then try again with exponential backoff; an update with the Idempotency-Key of the first try. */
      readonly 503: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly 'Retry-After': components['headers']['Retry-After'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'SERVICE_UNAVAILABLE';
            /** @constant */
            readonly status?: 503;
          };
        };
      };
      readonly 504: components['responses']['GatewayTimeout'];
    };
  };
  readonly listInventoryHead: {
    readonly parameters: {
      readonly query?: {
        /**
         * @description Entries on a page; the Link header leads to the next. Without it: the whole list, streamed.
         * @example 100
         */
        readonly limit?: components['parameters']['Limit'];
        /**
         * @description Where to go on, from the Link header of the page before
         * @example bGlzdEludmVudG9yeTo6MTAz
         */
        readonly cursor?: components['parameters']['Cursor'];
        /**
         * @description Only entries with this status
         * @example available
         */
        readonly status?: components['parameters']['PetStatusFilter'];
      };
      readonly header?: {
        /**
         * @description The `ETag` of an earlier answer, or several: where this one would be the same, it is 304 without a body.
         * @example W/"kEr0qOdpC3nZBvVx"
         */
        readonly 'If-None-Match'?: components['parameters']['IfNoneMatch'];
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The stock entries */
      readonly 200: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly Link: components['headers']['NextPage'];
          readonly Vary: components['headers']['Vary'];
          readonly 'Content-Encoding': components['headers']['Content-Encoding'];
          /**
           * @description Names this answer: sent as `If-None-Match`, it makes the answer 304 as long as nothing has changed
           * @example W/"kEr0qOdpC3nZBvVx"
           */
          readonly ETag?: string;
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Nothing has changed since the answer that `If-None-Match` names */
      readonly 304: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly Link: components['headers']['NextPage'];
          readonly Vary: components['headers']['Vary'];
          readonly ETag: components['headers']['ReadETag'];
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Refused, as GET would be */
      readonly '4XX': {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description Seconds to wait before the next try
           * @example 30
           */
          readonly 'Retry-After'?: number;
          /**
           * @description How to authenticate, and `error="invalid_token"` where a key was sent (RFC 6750)
           * @example Bearer realm="pet-store-inventory", error="invalid_token"
           */
          readonly 'WWW-Authenticate'?: string;
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Failed, as GET would */
      readonly '5XX': {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description Seconds to wait before the next try
           * @example 30
           */
          readonly 'Retry-After'?: number;
          /**
           * @description How to authenticate, and `error="invalid_token"` where a key was sent (RFC 6750)
           * @example Bearer realm="pet-store-inventory", error="invalid_token"
           */
          readonly 'WWW-Authenticate'?: string;
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly updateInventory: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /**
         * @description The `ETag` of the version that the update is meant for, or several; `*` stands for any. If the entry has changed since, the answer is 412 and nothing is done.
         * @example "mX0aVbq3Zk1T"
         */
        readonly 'If-Match'?: components['parameters']['IfMatch'];
        /**
         * @description Made anew for each update, such as a UUID: one text of 1 to 255 printable ASCII characters in double quotes, with a backslash before each quote and backslash in it; a text without these and without spaces may come without the quotes (IETF draft-ietf-httpapi-idempotency-key-header). Once the update is done, sending the same request again with the same key within 24 hours gives the same answer, and changes nothing.
         * @example "8e03978e-40d5-43dd-bc93-6894a57f9324"
         */
        readonly 'Idempotency-Key'?: components['parameters']['IdempotencyKey'];
      };
      readonly path: {
        /**
         * @description The pet
         * @example 101
         */
        readonly petId: components['parameters']['PetId'];
      };
      readonly cookie?: never;
    };
    readonly requestBody: {
      readonly content: {
        readonly 'application/json': components['schemas']['InventoryUpdate'];
      };
    };
    readonly responses: {
      /** @description The entry, updated */
      readonly 200: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly ETag: components['headers']['ETag'];
          readonly 'X-API-Stability': components['headers']['X-API-Stability'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['InventoryItem'];
        };
      };
      /**
       * @description `INVALID_PET_ID`, `INVALID_BODY`, `INVALID_HEADER`, `BAD_REQUEST`
       *
       *     - `INVALID_PET_ID`: The path has something in the place of petId that is no whole number, or one beyond 64 bits. Use a petId as GET /inventory lists it.
       *     - `INVALID_BODY`: The body of an update is missing, is not JSON, lacks quantity, has a quantity that is no integer from 0 to 2147483647, or has a field that is not known or given twice. Correct the field that the message names.
       *     - `INVALID_HEADER`: If-Match is no list of entity tags, If-None-Match of an update is not *, or Idempotency-Key is not what it must be: one text of 1 to 255 printable ASCII characters in double quotes, with a backslash before each quote and backslash in it; a text without these and without spaces may come without the quotes. Correct the header that the message names.
       *     - `BAD_REQUEST`: The request line, a header or the encoding is not valid HTTP, or the gateway could not read the request. Check the request line, the headers and the body.
       */
      readonly 400: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'INVALID_PET_ID' | 'INVALID_BODY' | 'INVALID_HEADER' | 'BAD_REQUEST';
            /** @constant */
            readonly status?: 400;
          };
        };
      };
      readonly 401: components['responses']['Unauthorized'];
      /**
       * @description `TOKEN_READ_ONLY`, `FORBIDDEN`
       *
       *     - `TOKEN_READ_ONLY`: The API key was made to read only, and the operation changes something. Use a key that may change things, or ask the admin of the store for one.
       *     - `FORBIDDEN`: The firewall in front of the service took the request for an attack, or its address for a flood. Slow down, and check the request for patterns that look like an attack.
       */
      readonly 403: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'TOKEN_READ_ONLY' | 'FORBIDDEN';
            /** @constant */
            readonly status?: 403;
          };
        };
      };
      /** @description `PET_NOT_FOUND`: The petId is well-formed, but the store has no stock entry for it, or for GET /pets no pet. Use a petId as GET /inventory lists it. */
      readonly 404: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly 'X-API-Stability': components['headers']['X-API-Stability'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'PET_NOT_FOUND';
            /** @constant */
            readonly status?: 404;
          };
        };
      };
      /** @description `PRECONDITION_FAILED`: Somebody has updated the stock entry since the ETag in If-Match was given out; or If-None-Match: * asks for there to be none. Nothing was changed. Look at the stock as it is now, decide again, and send the update with the ETag of this answer. */
      readonly 412: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly ETag: components['headers']['ETag'];
          readonly 'X-API-Stability': components['headers']['X-API-Stability'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'PRECONDITION_FAILED';
            /** @constant */
            readonly status?: 412;
          };
        };
      };
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 16 KiB, or than the gateway takes. Send only the fields that the operation knows. */
      readonly 413: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'PAYLOAD_TOO_LARGE';
            /** @constant */
            readonly status?: 413;
          };
        };
      };
      /** @description `UNSUPPORTED_MEDIA_TYPE`: The body was sent with another Content-Type than application/json, or with none, or with a Content-Encoding. Set the Content-Type header to application/json, and send the body uncompressed. */
      readonly 415: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly Allow: components['headers']['Allow'];
          readonly 'Accept-Patch': components['headers']['Accept-Patch'];
          readonly 'X-API-Stability': components['headers']['X-API-Stability'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'UNSUPPORTED_MEDIA_TYPE';
            /** @constant */
            readonly status?: 415;
          };
        };
      };
      /** @description `IDEMPOTENCY_KEY_REUSED`: Within 24 hours the same Idempotency-Key came with another petId, body or If-Match. Make a new key for every update, and send one again only with the very same request. */
      readonly 422: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly 'X-API-Stability': components['headers']['X-API-Stability'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'IDEMPOTENCY_KEY_REUSED';
            /** @constant */
            readonly status?: 422;
          };
        };
      };
      /**
       * @description `RATE_LIMIT_EXCEEDED`, `DAILY_QUOTA_EXCEEDED`, `API_KEY_SUSPENDED`, `TOO_MANY_REQUESTS`
       *
       *     - `RATE_LIMIT_EXCEEDED`: The key has made all requests of the current UTC minute that its plan allows. The refused request does not count against the day. Wait as many seconds as Retry-After says, then back off exponentially.
       *     - `DAILY_QUOTA_EXCEEDED`: The key has made all requests of the current UTC day that its plan allows. The next day begins at 00:00 UTC. Wait as many seconds as Retry-After says, or move to a higher plan.
       *     - `API_KEY_SUSPENDED`: The key was refused as often within one minute as it may make requests in it, which suspends it for five minutes; or the admin of the store has suspended it for a time. Stop all requests with this key for as many seconds as Retry-After says.
       *     - `TOO_MANY_REQUESTS`: Requests come so fast that the gateway refuses some of them by itself: those over a limit or of a suspended key, or all clients together send more than an operation takes. It does not say which it is, and the limit headers are 0, which means unknown. Wait as many seconds as Retry-After says. The limit headers of the next answer say what is left.
       */
      readonly 429: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly 'Retry-After': components['headers']['Retry-After'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'RATE_LIMIT_EXCEEDED' | 'DAILY_QUOTA_EXCEEDED' | 'API_KEY_SUSPENDED' | 'TOO_MANY_REQUESTS';
            /** @constant */
            readonly status?: 429;
          };
        };
      };
      /** @description `INTERNAL_ERROR`: The service ran into a fault of its own. It is logged under the request id. Try again later; if it stays, report the x-amzn-RequestId header of the answer. */
      readonly 500: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'INTERNAL_ERROR';
            /** @constant */
            readonly status?: 500;
          };
        };
      };
      readonly 502: components['responses']['BadGateway'];
      /** @description `SERVICE_UNAVAILABLE`: The database is out of reach or throttling, or many update the same pet at once. The request was not carried out, unless the message says that nobody can tell. Wait as many seconds as Retry-After says, then try again with exponential backoff; an update with the Idempotency-Key of the first try. */
      readonly 503: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly 'Retry-After': components['headers']['Retry-After'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'SERVICE_UNAVAILABLE';
            /** @constant */
            readonly status?: 503;
          };
        };
      };
      readonly 504: components['responses']['GatewayTimeout'];
    };
  };
  readonly getPet: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /**
         * @description The `ETag` of an earlier answer, or several: where this one would be the same, it is 304 without a body.
         * @example W/"kEr0qOdpC3nZBvVx"
         */
        readonly 'If-None-Match'?: components['parameters']['IfNoneMatch'];
      };
      readonly path: {
        /**
         * @description The pet
         * @example 101
         */
        readonly petId: components['parameters']['PetId'];
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The pet */
      readonly 200: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly ETag: components['headers']['ReadETag'];
          readonly Deprecation: components['headers']['Deprecation'];
          readonly Sunset: components['headers']['Sunset'];
          readonly Link: components['headers']['DeprecationPages'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Pet'];
        };
      };
      /** @description Nothing has changed since the answer that `If-None-Match` names */
      readonly 304: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly ETag: components['headers']['ReadETag'];
          readonly Deprecation: components['headers']['Deprecation'];
          readonly Sunset: components['headers']['Sunset'];
          readonly Link: components['headers']['DeprecationPages'];
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /**
       * @description `INVALID_PET_ID`, `BAD_REQUEST`
       *
       *     - `INVALID_PET_ID`: The path has something in the place of petId that is no whole number, or one beyond 64 bits. Use a petId as GET /inventory lists it.
       *     - `BAD_REQUEST`: The request line, a header or the encoding is not valid HTTP, or the gateway could not read the request. Check the request line, the headers and the body.
       */
      readonly 400: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description Since when the operation is deprecated (RFC 9745)
           * @example @1795219200
           */
          readonly Deprecation?: string;
          /**
           * @description When the operation may go (RFC 8594)
           * @example Tue, 30 Nov 2027 00:00:00 GMT
           */
          readonly Sunset?: string;
          /**
           * @description Where to read about the deprecation and the sunset
           * @example <https://pets.example.com/#description/deprecations>; rel="deprecation"; type="text/html", <https://pets.example.com/#description/deprecations>; rel="sunset"; type="text/html"
           */
          readonly Link?: string;
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'INVALID_PET_ID' | 'BAD_REQUEST';
            /** @constant */
            readonly status?: 400;
          };
        };
      };
      readonly 401: components['responses']['Unauthorized'];
      readonly 403: components['responses']['Forbidden'];
      /** @description `PET_NOT_FOUND`: The petId is well-formed, but the store has no stock entry for it, or for GET /pets no pet. Use a petId as GET /inventory lists it. */
      readonly 404: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly Deprecation: components['headers']['Deprecation'];
          readonly Sunset: components['headers']['Sunset'];
          readonly Link: components['headers']['DeprecationPages'];
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'PET_NOT_FOUND';
            /** @constant */
            readonly status?: 404;
          };
        };
      };
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 16 KiB, or than the gateway takes. Send only the fields that the operation knows. */
      readonly 413: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description Since when the operation is deprecated (RFC 9745)
           * @example @1795219200
           */
          readonly Deprecation?: string;
          /**
           * @description When the operation may go (RFC 8594)
           * @example Tue, 30 Nov 2027 00:00:00 GMT
           */
          readonly Sunset?: string;
          /**
           * @description Where to read about the deprecation and the sunset
           * @example <https://pets.example.com/#description/deprecations>; rel="deprecation"; type="text/html", <https://pets.example.com/#description/deprecations>; rel="sunset"; type="text/html"
           */
          readonly Link?: string;
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'PAYLOAD_TOO_LARGE';
            /** @constant */
            readonly status?: 413;
          };
        };
      };
      /**
       * @description `RATE_LIMIT_EXCEEDED`, `DAILY_QUOTA_EXCEEDED`, `API_KEY_SUSPENDED`, `TOO_MANY_REQUESTS`
       *
       *     - `RATE_LIMIT_EXCEEDED`: The key has made all requests of the current UTC minute that its plan allows. The refused request does not count against the day. Wait as many seconds as Retry-After says, then back off exponentially.
       *     - `DAILY_QUOTA_EXCEEDED`: The key has made all requests of the current UTC day that its plan allows. The next day begins at 00:00 UTC. Wait as many seconds as Retry-After says, or move to a higher plan.
       *     - `API_KEY_SUSPENDED`: The key was refused as often within one minute as it may make requests in it, which suspends it for five minutes; or the admin of the store has suspended it for a time. Stop all requests with this key for as many seconds as Retry-After says.
       *     - `TOO_MANY_REQUESTS`: Requests come so fast that the gateway refuses some of them by itself: those over a limit or of a suspended key, or all clients together send more than an operation takes. It does not say which it is, and the limit headers are 0, which means unknown. Wait as many seconds as Retry-After says. The limit headers of the next answer say what is left.
       */
      readonly 429: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly 'Retry-After': components['headers']['Retry-After'];
          /**
           * @description Since when the operation is deprecated (RFC 9745)
           * @example @1795219200
           */
          readonly Deprecation?: string;
          /**
           * @description When the operation may go (RFC 8594)
           * @example Tue, 30 Nov 2027 00:00:00 GMT
           */
          readonly Sunset?: string;
          /**
           * @description Where to read about the deprecation and the sunset
           * @example <https://pets.example.com/#description/deprecations>; rel="deprecation"; type="text/html", <https://pets.example.com/#description/deprecations>; rel="sunset"; type="text/html"
           */
          readonly Link?: string;
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'RATE_LIMIT_EXCEEDED' | 'DAILY_QUOTA_EXCEEDED' | 'API_KEY_SUSPENDED' | 'TOO_MANY_REQUESTS';
            /** @constant */
            readonly status?: 429;
          };
        };
      };
      /** @description `INTERNAL_ERROR`: The service ran into a fault of its own. It is logged under the request id. Try again later; if it stays, report the x-amzn-RequestId header of the answer. */
      readonly 500: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description Since when the operation is deprecated (RFC 9745)
           * @example @1795219200
           */
          readonly Deprecation?: string;
          /**
           * @description When the operation may go (RFC 8594)
           * @example Tue, 30 Nov 2027 00:00:00 GMT
           */
          readonly Sunset?: string;
          /**
           * @description Where to read about the deprecation and the sunset
           * @example <https://pets.example.com/#description/deprecations>; rel="deprecation"; type="text/html", <https://pets.example.com/#description/deprecations>; rel="sunset"; type="text/html"
           */
          readonly Link?: string;
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'INTERNAL_ERROR';
            /** @constant */
            readonly status?: 500;
          };
        };
      };
      readonly 502: components['responses']['BadGateway'];
      /** @description `SERVICE_UNAVAILABLE`: The database is out of reach or throttling, or many update the same pet at once. The request was not carried out, unless the message says that nobody can tell. Wait as many seconds as Retry-After says, then try again with exponential backoff; an update with the Idempotency-Key of the first try. */
      readonly 503: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly 'Retry-After': components['headers']['Retry-After'];
          /**
           * @description Since when the operation is deprecated (RFC 9745)
           * @example @1795219200
           */
          readonly Deprecation?: string;
          /**
           * @description When the operation may go (RFC 8594)
           * @example Tue, 30 Nov 2027 00:00:00 GMT
           */
          readonly Sunset?: string;
          /**
           * @description Where to read about the deprecation and the sunset
           * @example <https://pets.example.com/#description/deprecations>; rel="deprecation"; type="text/html", <https://pets.example.com/#description/deprecations>; rel="sunset"; type="text/html"
           */
          readonly Link?: string;
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'SERVICE_UNAVAILABLE';
            /** @constant */
            readonly status?: 503;
          };
        };
      };
      readonly 504: components['responses']['GatewayTimeout'];
    };
  };
  readonly getPetHead: {
    readonly parameters: {
      readonly query?: never;
      readonly header?: {
        /**
         * @description The `ETag` of an earlier answer, or several: where this one would be the same, it is 304 without a body.
         * @example W/"kEr0qOdpC3nZBvVx"
         */
        readonly 'If-None-Match'?: components['parameters']['IfNoneMatch'];
      };
      readonly path: {
        /**
         * @description The pet
         * @example 101
         */
        readonly petId: components['parameters']['PetId'];
      };
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The pet */
      readonly 200: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly ETag: components['headers']['ReadETag'];
          readonly Deprecation: components['headers']['Deprecation'];
          readonly Sunset: components['headers']['Sunset'];
          readonly Link: components['headers']['DeprecationPages'];
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Nothing has changed since the answer that `If-None-Match` names */
      readonly 304: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly ETag: components['headers']['ReadETag'];
          readonly Deprecation: components['headers']['Deprecation'];
          readonly Sunset: components['headers']['Sunset'];
          readonly Link: components['headers']['DeprecationPages'];
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Refused, as GET would be */
      readonly '4XX': {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description Seconds to wait before the next try
           * @example 30
           */
          readonly 'Retry-After'?: number;
          /**
           * @description How to authenticate, and `error="invalid_token"` where a key was sent (RFC 6750)
           * @example Bearer realm="pet-store-inventory", error="invalid_token"
           */
          readonly 'WWW-Authenticate'?: string;
          /**
           * @description Since when the operation is deprecated (RFC 9745)
           * @example @1795219200
           */
          readonly Deprecation?: string;
          /**
           * @description When the operation may go (RFC 8594)
           * @example Tue, 30 Nov 2027 00:00:00 GMT
           */
          readonly Sunset?: string;
          /**
           * @description Where to read about the deprecation and the sunset
           * @example <https://pets.example.com/#description/deprecations>; rel="deprecation"; type="text/html", <https://pets.example.com/#description/deprecations>; rel="sunset"; type="text/html"
           */
          readonly Link?: string;
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Failed, as GET would */
      readonly '5XX': {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description Seconds to wait before the next try
           * @example 30
           */
          readonly 'Retry-After'?: number;
          /**
           * @description How to authenticate, and `error="invalid_token"` where a key was sent (RFC 6750)
           * @example Bearer realm="pet-store-inventory", error="invalid_token"
           */
          readonly 'WWW-Authenticate'?: string;
          /**
           * @description Since when the operation is deprecated (RFC 9745)
           * @example @1795219200
           */
          readonly Deprecation?: string;
          /**
           * @description When the operation may go (RFC 8594)
           * @example Tue, 30 Nov 2027 00:00:00 GMT
           */
          readonly Sunset?: string;
          /**
           * @description Where to read about the deprecation and the sunset
           * @example <https://pets.example.com/#description/deprecations>; rel="deprecation"; type="text/html", <https://pets.example.com/#description/deprecations>; rel="sunset"; type="text/html"
           */
          readonly Link?: string;
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
  readonly listOrders: {
    readonly parameters: {
      readonly query?: {
        /**
         * @description Entries on a page; the Link header leads to the next. Without it: the whole list, streamed.
         * @example 100
         */
        readonly limit?: components['parameters']['Limit'];
        /**
         * @description Where to go on, from the Link header of the page before
         * @example bGlzdEludmVudG9yeTo6MTAz
         */
        readonly cursor?: components['parameters']['Cursor'];
        /**
         * @description Only entries with this status
         * @example placed
         */
        readonly status?: components['parameters']['OrderStatusFilter'];
      };
      readonly header?: {
        /**
         * @description The `ETag` of an earlier answer, or several: where this one would be the same, it is 304 without a body.
         * @example W/"kEr0qOdpC3nZBvVx"
         */
        readonly 'If-None-Match'?: components['parameters']['IfNoneMatch'];
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The orders */
      readonly 200: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly Link: components['headers']['NextPage'];
          readonly Vary: components['headers']['Vary'];
          readonly 'Content-Encoding': components['headers']['Content-Encoding'];
          readonly 'X-API-Stability': components['headers']['X-API-Stability'];
          /**
           * @description Names this answer: sent as `If-None-Match`, it makes the answer 304 as long as nothing has changed
           * @example W/"kEr0qOdpC3nZBvVx"
           */
          readonly ETag?: string;
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['OrderList'];
        };
      };
      /** @description Nothing has changed since the answer that `If-None-Match` names */
      readonly 304: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly Link: components['headers']['NextPage'];
          readonly Vary: components['headers']['Vary'];
          readonly ETag: components['headers']['ReadETag'];
          readonly 'X-API-Stability': components['headers']['X-API-Stability'];
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /**
       * @description `INVALID_QUERY`, `INVALID_CURSOR`, `BAD_REQUEST`
       *
       *     - `INVALID_QUERY`: A list was asked for with a parameter that it does not have, one given twice, or a value out of its range. Correct the parameter that the message names: a list takes limit, cursor and status.
       *     - `INVALID_CURSOR`: The cursor was changed, cut off, or taken from another list or with another status. Follow the Link header of a page as it is, or begin again without a cursor.
       *     - `BAD_REQUEST`: The request line, a header or the encoding is not valid HTTP, or the gateway could not read the request. Check the request line, the headers and the body.
       */
      readonly 400: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'INVALID_QUERY' | 'INVALID_CURSOR' | 'BAD_REQUEST';
            /** @constant */
            readonly status?: 400;
          };
        };
      };
      readonly 401: components['responses']['Unauthorized'];
      readonly 403: components['responses']['Forbidden'];
      /** @description `PAYLOAD_TOO_LARGE`: The body is larger than 16 KiB, or than the gateway takes. Send only the fields that the operation knows. */
      readonly 413: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'PAYLOAD_TOO_LARGE';
            /** @constant */
            readonly status?: 413;
          };
        };
      };
      /**
       * @description `RATE_LIMIT_EXCEEDED`, `DAILY_QUOTA_EXCEEDED`, `API_KEY_SUSPENDED`, `TOO_MANY_REQUESTS`
       *
       *     - `RATE_LIMIT_EXCEEDED`: The key has made all requests of the current UTC minute that its plan allows. The refused request does not count against the day. Wait as many seconds as Retry-After says, then back off exponentially.
       *     - `DAILY_QUOTA_EXCEEDED`: The key has made all requests of the current UTC day that its plan allows. The next day begins at 00:00 UTC. Wait as many seconds as Retry-After says, or move to a higher plan.
       *     - `API_KEY_SUSPENDED`: The key was refused as often within one minute as it may make requests in it, which suspends it for five minutes; or the admin of the store has suspended it for a time. Stop all requests with this key for as many seconds as Retry-After says.
       *     - `TOO_MANY_REQUESTS`: Requests come so fast that the gateway refuses some of them by itself: those over a limit or of a suspended key, or all clients together send more than an operation takes. It does not say which it is, and the limit headers are 0, which means unknown. Wait as many seconds as Retry-After says. The limit headers of the next answer say what is left.
       */
      readonly 429: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly 'Retry-After': components['headers']['Retry-After'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'RATE_LIMIT_EXCEEDED' | 'DAILY_QUOTA_EXCEEDED' | 'API_KEY_SUSPENDED' | 'TOO_MANY_REQUESTS';
            /** @constant */
            readonly status?: 429;
          };
        };
      };
      /** @description `INTERNAL_ERROR`: The service ran into a fault of its own. It is logged under the request id. Try again later; if it stays, report the x-amzn-RequestId header of the answer. */
      readonly 500: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'INTERNAL_ERROR';
            /** @constant */
            readonly status?: 500;
          };
        };
      };
      readonly 502: components['responses']['BadGateway'];
      /** @description `SERVICE_UNAVAILABLE`: The database is out of reach or throttling, or many update the same pet at once. The request was not carried out, unless the message says that nobody can tell. Wait as many seconds as Retry-After says, then try again with exponential backoff; an update with the Idempotency-Key of the first try. */
      readonly 503: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly 'Retry-After': components['headers']['Retry-After'];
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content: {
          readonly 'application/json': components['schemas']['Error'] & {
            /** @enum {string} */
            readonly code?: 'SERVICE_UNAVAILABLE';
            /** @constant */
            readonly status?: 503;
          };
        };
      };
      readonly 504: components['responses']['GatewayTimeout'];
    };
  };
  readonly listOrdersHead: {
    readonly parameters: {
      readonly query?: {
        /**
         * @description Entries on a page; the Link header leads to the next. Without it: the whole list, streamed.
         * @example 100
         */
        readonly limit?: components['parameters']['Limit'];
        /**
         * @description Where to go on, from the Link header of the page before
         * @example bGlzdEludmVudG9yeTo6MTAz
         */
        readonly cursor?: components['parameters']['Cursor'];
        /**
         * @description Only entries with this status
         * @example placed
         */
        readonly status?: components['parameters']['OrderStatusFilter'];
      };
      readonly header?: {
        /**
         * @description The `ETag` of an earlier answer, or several: where this one would be the same, it is 304 without a body.
         * @example W/"kEr0qOdpC3nZBvVx"
         */
        readonly 'If-None-Match'?: components['parameters']['IfNoneMatch'];
      };
      readonly path?: never;
      readonly cookie?: never;
    };
    readonly requestBody?: never;
    readonly responses: {
      /** @description The orders */
      readonly 200: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly Link: components['headers']['NextPage'];
          readonly Vary: components['headers']['Vary'];
          readonly 'Content-Encoding': components['headers']['Content-Encoding'];
          readonly 'X-API-Stability': components['headers']['X-API-Stability'];
          /**
           * @description Names this answer: sent as `If-None-Match`, it makes the answer 304 as long as nothing has changed
           * @example W/"kEr0qOdpC3nZBvVx"
           */
          readonly ETag?: string;
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Nothing has changed since the answer that `If-None-Match` names */
      readonly 304: {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          readonly Link: components['headers']['NextPage'];
          readonly Vary: components['headers']['Vary'];
          readonly ETag: components['headers']['ReadETag'];
          readonly 'X-API-Stability': components['headers']['X-API-Stability'];
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Refused, as GET would be */
      readonly '4XX': {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description Seconds to wait before the next try
           * @example 30
           */
          readonly 'Retry-After'?: number;
          /**
           * @description How to authenticate, and `error="invalid_token"` where a key was sent (RFC 6750)
           * @example Bearer realm="pet-store-inventory", error="invalid_token"
           */
          readonly 'WWW-Authenticate'?: string;
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content?: never;
      };
      /** @description Failed, as GET would */
      readonly '5XX': {
        headers: {
          readonly 'X-RateLimit-Limit': components['headers']['X-RateLimit-Limit'];
          readonly 'X-RateLimit-Remaining': components['headers']['X-RateLimit-Remaining'];
          readonly 'X-RateLimit-Reset': components['headers']['X-RateLimit-Reset'];
          readonly 'RateLimit-Policy': components['headers']['RateLimit-Policy'];
          readonly RateLimit: components['headers']['RateLimit'];
          readonly 'Access-Control-Allow-Origin': components['headers']['Access-Control-Allow-Origin'];
          readonly 'Access-Control-Expose-Headers': components['headers']['Access-Control-Expose-Headers'];
          readonly 'x-amzn-RequestId': components['headers']['x-amzn-RequestId'];
          readonly 'x-amz-apigw-id': components['headers']['x-amz-apigw-id'];
          readonly 'X-Amzn-Trace-Id': components['headers']['X-Amzn-Trace-Id'];
          readonly 'Cache-Control': components['headers']['Cache-Control'];
          readonly 'X-Content-Type-Options': components['headers']['X-Content-Type-Options'];
          readonly 'Strict-Transport-Security': components['headers']['Strict-Transport-Security'];
          /**
           * @description Seconds to wait before the next try
           * @example 30
           */
          readonly 'Retry-After'?: number;
          /**
           * @description How to authenticate, and `error="invalid_token"` where a key was sent (RFC 6750)
           * @example Bearer realm="pet-store-inventory", error="invalid_token"
           */
          readonly 'WWW-Authenticate'?: string;
          /**
           * @description The stability mark of the operation
           * @example experimental
           */
          readonly 'X-API-Stability'?: 'experimental' | 'beta';
          readonly [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
}

/** Names of the fields that are int64, wherever they are. */
export const int64Fields = ['id', 'petId'] as const;
