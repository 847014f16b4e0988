import * as v from 'valibot';
import { type Order, orderSchema } from '../../../shared/contract/orders.ts';

/** Orders of the sample store: id, petId, quantity, status, and the day they are shipped where that is known. */
const orders = `
  1   104  1    delivered  2026-08-03
  2   204  1    delivered  2026-08-05
  3   701  12   delivered  2026-08-11
  4   303  2    delivered  2026-08-18
  5   503  1    delivered  2026-08-27
  6   901  500  delivered  2026-09-02
  7   603  1    delivered  2026-09-09
  8   852  1    delivered  2026-09-14
  9   705  2    delivered  2026-09-21
  10  651  2    delivered  2026-10-06
  11  702  6    delivered  2026-10-12
  12  103  1    approved   2026-12-01
  13  203  2    approved   2026-12-03
  14  304  1    approved   2026-12-04
  15  602  1    approved   2026-12-08
  16  703  20   approved   2026-12-10
  17  802  1    approved   2026-12-15
  18  106  1    placed
  19  403  2    placed
  20  304  1    placed
  21  703  10   placed
  22  501  1    placed
`;

/** Orders of the sample store, in ascending id: those for its pending pets are open, those for its sold ones done. */
export const sampleOrders: readonly Order[] = v.parse(
  v.array(orderSchema),
  orders
    .trim()
    .split('\n')
    .map((line) => {
      const [id, petId, quantity, status, shipDay] = line.trim().split(/ +/);
      return {
        id,
        petId,
        quantity: Number(quantity),
        shipDate: shipDay && `${shipDay}T10:00:00Z`,
        status,
        complete: status === 'delivered',
      };
    }),
);
