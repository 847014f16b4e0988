import {
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import { type Input, type Item, ItemStore, partsOf } from './item-store.ts';

/** A change of one item. */
export interface Commit {
  readonly at: number;
  readonly table: string;
  readonly key: Item;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
  /** Who made it. */
  readonly writer: string;
}

/** When a command is carried out, and by whom. */
export interface Occasion {
  readonly at: number;
  readonly writer: string;
}

const partsOfTransaction: Record<string, string> = {
  Put: 'PutItemCommand',
  Update: 'UpdateItemCommand',
  Delete: 'DeleteItemCommand',
  ConditionCheck: 'ConditionCheck',
};

const FAILED = 'ConditionalCheckFailed';
/** DynamoDB remembers the token of a transaction this long. */
const TOKEN_MS = 10 * 60_000;
const metadata = (httpStatusCode: number) => ({ $metadata: { httpStatusCode, attempts: 1, totalRetryDelay: 0 } });

/** Tables in memory, whose commands are carried out at once, and all changes of their items. */
export class VirtualTables {
  readonly commits: Commit[] = [];
  readonly #items = new ItemStore();
  readonly #tokens = new Map<string, { readonly at: number; readonly text: string }>();

  /** @param keys attribute names, the partition key first; the sort key is a number */
  createTable(name: string, ...keys: readonly string[]): void {
    this.#items.createTable(name, keys);
  }

  itemAt(table: string, key: Item): Item | undefined {
    return this.#items.get(this.#items.placeOf({ TableName: table, Key: key }));
  }

  /** Which items a command is about. */
  itemsOf(command: string, input: Input): string[] {
    if (command !== 'TransactWriteItemsCommand') return [this.#items.placeOf(input)];
    return transactionOf(input).map(([, part]) => this.#items.placeOf(part));
  }

  /** Carries out a command. @throws the SDK's errors */
  execute(command: string, input: Input, occasion: Occasion): Input {
    if (command === 'TransactWriteItemsCommand') return this.#transact(input, occasion);
    const { result, changes } = this.#try(command, input);
    this.#commit(changes, occasion);
    return { ...result, ...metadata(200) };
  }

  #transact(input: Input, occasion: Occasion): Input {
    const { ClientRequestToken: token } = input;
    const text = JSON.stringify(input);
    if (typeof token === 'string') {
      const earlier = this.#tokens.get(token);
      if (earlier && earlier.at > occasion.at - TOKEN_MS) {
        if (earlier.text !== text) throw new Error('A transaction has the token of another one');
        return metadata(200);
      }
    }
    const changes: Change[] = [];
    const reasons = transactionOf(input).map(([name, part]): CancellationReason => {
      try {
        changes.push(...this.#try(name, part).changes);
        return { Code: 'None' };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        const { message, Item } = error;
        return Item ? { Code: FAILED, Message: message, Item } : { Code: FAILED, Message: message };
      }
    });
    if (reasons.some(({ Code }) => Code !== 'None')) throw canceled(reasons);
    if (typeof token === 'string') this.#tokens.set(token, { at: occasion.at, text });
    this.#commit(changes, occasion);
    return metadata(200);
  }

  /** What a command would answer, and change. */
  #try(command: string, input: Input): { readonly result: Input; readonly changes: readonly Change[] } {
    const outcome = this.#items.try(command, input);
    if (outcome !== 'condition failed') return outcome;
    const wanted = input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD';
    const Item = wanted ? this.#items.get(this.#items.placeOf(input)) : undefined;
    const message = 'The conditional request failed';
    throw new ConditionalCheckFailedException({ message, ...(Item && { Item }), ...metadata(400) });
  }

  #commit(changes: readonly Change[], occasion: Occasion): void {
    for (const change of changes) {
      this.#items.set(change.place, change.after);
      this.commits.push({ ...occasion, ...change });
    }
  }
}

type Change = Omit<Commit, keyof Occasion> & { readonly place: string };

/** The failure of a transaction, with one reason for each of its parts. */
export function canceled(reasons: CancellationReason[]): TransactionCanceledException {
  const message = `Transaction cancelled, specific reasons [${reasons.map(({ Code }) => Code).join(', ')}]`;
  return new TransactionCanceledException({ message, CancellationReasons: reasons, ...metadata(400) });
}

function transactionOf({ TransactItems }: Input): [string, Input][] {
  const items: readonly unknown[] = Array.isArray(TransactItems) ? TransactItems : [];
  return items.flatMap((item) =>
    Object.entries(partsOf(item)).map(([kind, part]): [string, Input] => [
      partsOfTransaction[kind] ?? kind,
      partsOf(part),
    ]),
  );
}
