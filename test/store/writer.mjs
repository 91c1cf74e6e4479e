// @ts-check
// Started by crash.test.ts and killed at any moment: argument 1 is the data folder. Each transaction writes two rows, and
// its number is printed once it is acknowledged.
import { loadCompiled } from '../../scripts/setup/load.mjs'
import { root } from '../../scripts/setup.mjs'

/** @type {typeof import('../../src/areas.ts')} */
const { migrations } = loadCompiled(root, 'areas.js')
/** @type {typeof import('../../src/store/connection.ts')} */
const { openStore } = loadCompiled(root, 'store/connection.js')
/** @type {typeof import('../../src/store/transaction.ts')} */
const { inTransaction } = loadCompiled(root, 'store/transaction.js')

const { db } = openStore(process.argv[2] ?? '', { migrations })
const last = await db
  .selectFrom('settings')
  .select((eb) => eb.fn.max('value').as('value'))
  .where('key', 'like', 'left-%')
  .executeTakeFirst()
for (let n = Number(last?.value ?? 0) + 1; ; n++) {
  const value = String(n).padStart(9, '1')
  await inTransaction({ db }, async (ctx) => {
    await ctx.db
      .insertInto('settings')
      .values({ key: `left-${value}`, value })
      .execute()
    await new Promise((resolve) => setImmediate(resolve))
    await ctx.db
      .insertInto('settings')
      .values({ key: `right-${value}`, value })
      .execute()
  })
  process.stdout.write(`${value}\n`)
}
