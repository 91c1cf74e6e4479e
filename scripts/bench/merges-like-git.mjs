// @ts-check
// Compares 5,000 generated merges, picks, reverts and rebases with the git program, a thousand at a time with cases of their own:
// `node scripts/bench/merges-like-git.mjs`, or `... 3 200` for three rounds of 200 of each kind, `... 5 200 2` from the second on.
import { spawnSync } from 'node:child_process'

const [rounds = '5', runs = '200', first = '1'] = process.argv.slice(2)
const test = 'test/git/merge/merge-oracle.test.ts'
let failed = false
for (let round = Number(first); round <= Number(rounds); round += 1) {
  const done = spawnSync(
    'npx',
    ['vitest', 'run', '--config', 'test/vitest.config.ts', '--testTimeout', '3600000', test],
    { stdio: 'inherit', env: { ...process.env, FC_RUNS: runs, FC_SEED: String(1000 + round) } },
  )
  failed ||= done.status !== 0
}
process.exitCode = failed ? 1 : 0
