import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ctx } from '../../ctx.ts'
import { createRunner } from './register.ts'
import { findRunnerByToken } from './runner-token.ts'

/** The token of the runner that works beside the server; the runner is made when it is not there. */
export async function ownRunnerToken(ctx: Ctx): Promise<string> {
  const path = join(ctx.config.data, 'runner-token')
  const known = (await readFile(path, 'utf8').catch(() => '')).trim()
  if (known !== '' && (await findRunnerByToken(ctx, known))) return known
  const { token } = await createRunner(ctx, {
    type: 'instance_type',
    registration: 'authenticated_user',
    settings: { description: 'beside the server', run_untagged: true },
  })
  await writeFile(path, `${token}\n`, { mode: 0o600 })
  return token
}
