/** Runs what follows from a change, in the order of its list. */
export async function runEffects<C, Change>(
  ctx: C,
  effects: readonly ((ctx: C, change: Change) => Promise<unknown>)[],
  change: Change,
): Promise<void> {
  for (const effect of effects) await effect(ctx, change)
}

/**
 * Lets effects look at what there is before a change, while no transaction is open; what this gives runs them in the
 * transaction of the change.
 */
export async function prepareEffects<C, Before, Change>(
  ctx: C,
  effects: readonly ((
    ctx: C,
    before: Before,
  ) => Promise<(ctx: C, change: Change) => Promise<unknown>>)[],
  before: Before,
): Promise<(ctx: C, change: Change) => Promise<void>> {
  const prepared: ((ctx: C, change: Change) => Promise<unknown>)[] = []
  for (const effect of effects) prepared.push(await effect(ctx, before))
  return (ctx, change) => runEffects(ctx, prepared, change)
}
