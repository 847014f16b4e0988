/** Which keys are on which usage plans, by their ids. */
export class PlanKeys {
  readonly #plansOfKey = new Map<string, Set<string>>();
  readonly #keysOfPlan = new Map<string, Set<string>>();

  has(planId: string, keyId: string): boolean {
    return this.#keysOfPlan.get(planId)?.has(keyId) ?? false;
  }

  add(planId: string, keyId: string): void {
    addTo(this.#keysOfPlan, planId, keyId);
    addTo(this.#plansOfKey, keyId, planId);
  }

  remove(planId: string, keyId: string): void {
    this.#keysOfPlan.get(planId)?.delete(keyId);
    this.#plansOfKey.get(keyId)?.delete(planId);
  }

  keysOf(planId: string): Iterable<string> {
    return this.#keysOfPlan.get(planId) ?? [];
  }

  plansOf(keyId: string): Iterable<string> {
    return this.#plansOfKey.get(keyId) ?? [];
  }
}

function addTo(map: Map<string, Set<string>>, name: string, member: string): void {
  const members = map.get(name) ?? new Set();
  map.set(name, members.add(member));
}
