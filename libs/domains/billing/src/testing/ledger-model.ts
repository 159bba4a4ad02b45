/** What the rules say of an organization's credits, in millionths, told as shortly as they can be: what the service is held against. */
export class LedgerModel {
  granted = 0n;
  purchased = 0n;
  plan: ModelPlan;
  private readonly done = new Set<string>();

  constructor(readonly trial: ModelPlan) {
    this.plan = trial;
  }

  /** A cause moves credits once. */
  private once(key: string, act: () => void): void {
    if (this.done.has(key)) return;
    this.done.add(key);
    act();
  }

  take(key: string, amount: bigint): void {
    this.once(key, () => {
      const positive = this.granted > 0n ? this.granted : 0n;
      const fromGranted = amount < positive ? amount : positive;
      const fromPurchased = amount - fromGranted < this.purchased ? amount - fromGranted : this.purchased;
      this.purchased -= fromPurchased;
      this.granted -= amount - fromPurchased;
    });
  }

  give(key: string, amount: bigint): void {
    this.once(key, () => void (this.granted += amount));
  }

  buy(order: string, amount: bigint): void {
    this.once(`pack:${order}`, () => void (this.purchased += amount));
  }

  refund(key: string, amount: bigint): void {
    this.once(key, () => void (this.purchased -= amount < this.purchased ? amount : this.purchased));
  }

  /** What is positive expires but for what is kept; a debt stays. */
  private expire(keep = 0n): void {
    if (this.granted > keep) this.granted = keep;
  }

  private allocate(plan: ModelPlan): void {
    this.once(`allocation:${plan.code}`, () => void (this.granted += plan.initial + plan.monthly));
  }

  change(plan: ModelPlan): void {
    this.expire();
    this.plan = plan;
    this.allocate(plan);
  }

  /** A paid change within a period: up and down earns nothing twice. */
  update(order: string, plan: ModelPlan): void {
    this.once(`order:${order}`, () => {
      if (plan === this.plan) return;
      this.expire(this.done.has(`allocation:${plan.code}`) ? plan.monthly : 0n);
      this.plan = plan;
      this.allocate(plan);
    });
  }

  close(): void {
    if (!this.plan.renews) return;
    this.expire();
    this.granted += this.plan.monthly;
  }

  revoke(): void {
    this.expire();
    this.plan = this.trial;
  }
}

export interface ModelPlan {
  code: string;
  renews: boolean;
  initial: bigint;
  monthly: bigint;
}
