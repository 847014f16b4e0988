import type { GatewayRequest } from '../../infra/local/gateway/messages.ts';

/** A request as the local gateway takes it from the network, except for what the test says. */
export function aGatewayRequest(differences: Partial<GatewayRequest> = {}): GatewayRequest {
  return {
    id: '7b4b5a2e-0d5c-4c39-9d0e-3f6f1a2b3c4d',
    receivedAt: Date.UTC(2026, 10, 21, 9, 30, 0, 250),
    method: 'GET',
    path: '/inventory',
    query: '',
    headers: [
      ['Host', 'localhost:3000'],
      ['User-Agent', 'curl/8.5.0'],
      ['Authorization', 'Bearer psk_x'],
    ],
    body: Buffer.alloc(0),
    bodyTooLarge: false,
    sourceIp: '203.0.113.7',
    protocol: 'HTTP/1.1',
    ...differences,
  };
}
