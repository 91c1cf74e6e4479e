import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Ctx } from '../ctx.ts'
import type { Repo } from '../git/repo.ts'
import { pushablePrefixes } from '../repositories/refs/moves.ts'
import type { ServiceCommand } from './git-process.ts'

/**
 * Hides every ref that nobody may push from pushing clients, which also refuses them one by one
 * with git's own reason (docs/contract/D §3.5). In the environment since `-c` holds one value per key here.
 */
export const onlyPushableRefs: Readonly<Record<string, string>> = Object.fromEntries([
  ['GIT_CONFIG_COUNT', String(pushablePrefixes.length + 1)],
  ...['refs', ...pushablePrefixes.map((prefix) => `!${prefix.slice(0, -1)}`)].flatMap(
    (value, index) => [
      [`GIT_CONFIG_KEY_${index}`, 'receive.hideRefs'],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ],
  ),
])

/** The largest pack in bytes: what the operator or an administrator allows, whichever is less; 0 for any. */
export function pushLimit(ctx: Ctx): number {
  const megabytes = ctx.settings.get('receive_max_input_size') ?? 0
  const limits = [ctx.config.maxPush, megabytes * 1024 * 1024].filter((limit) => limit > 0)
  return limits.length === 0 ? 0 : Math.min(...limits)
}

/** The git program that takes pushes, as we start it; `hooks` is the folder of its hooks. */
export function receiveCommand(hooks: string, ctx: Ctx, repo: Repo): ServiceCommand {
  return {
    service: 'receive-pack',
    repo,
    options: ['--stateless-rpc'],
    protocol: undefined,
    config: {
      'core.hooksPath': hooks,
      'transfer.fsckObjects': 'true',
      'receive.maxInputSize': String(pushLimit(ctx)),
      'receive.autogc': 'false',
      'receive.advertisePushOptions': 'true',
      // Loose objects are brought onto the disk together, before the push is let in.
      'core.fsync': 'pack,derived-metadata,reference',
      ...(borrowsObjects(repo) ? {} : { 'core.alternateRefsCommand': 'true' }),
    },
    env: onlyPushableRefs,
  }
}

/**
 * Whether there is another repository whose refs say what is whole already. Git takes the repository itself for one
 * while it looks at the quarantine, and would start a program to list the same refs again.
 */
export function borrowsObjects(repo: Repo): boolean {
  return existsSync(join(repo.path, 'objects/info/alternates'))
}
