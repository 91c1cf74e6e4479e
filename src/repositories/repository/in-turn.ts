const last = new Map<string, Promise<unknown>>()

/**
 * Does the work after all earlier work of the same key is done: writers of one branch who wait for each other need not
 * begin anew, as they must when a push was faster.
 */
export async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
  const before = last.get(key) ?? Promise.resolve()
  const mine = before.then(work, work)
  last.set(key, mine)
  try {
    return await mine
  } finally {
    if (last.get(key) === mine) last.delete(key)
  }
}
