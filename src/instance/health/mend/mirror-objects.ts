import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ownedName } from '../../../base/process-mark.ts'
import type { Ctx } from '../../../ctx.ts'
import { importRepository } from '../../../git/transfer/import.ts'
import { openAddress } from '../../../repositories/mirrors/address.ts'
import { findPullMirror } from '../../../repositories/mirrors/pull-queries.ts'
import { findRemoteMirror, listEnabledMirrors } from '../../../repositories/mirrors/queries.ts'

/** What the servers have that a project follows or is pushed to, each fetched and checked into a folder of its own. */
export class MirrorObjects {
  readonly #ctx: Ctx
  readonly #projectId: number | undefined
  readonly #scratch: string
  #folders: Promise<readonly string[]> | undefined

  /** Only the code of a project has mirrors. */
  constructor(ctx: Ctx, projectId: number | undefined) {
    this.#ctx = ctx
    this.#projectId = projectId
    this.#scratch = join(ctx.config.data, 'tmp', ownedName('mend-mirror-'))
  }

  /** Folders of objects; asked for once. A server that does not answer gives nothing. */
  folders(signal: AbortSignal): Promise<readonly string[]> {
    this.#folders ??= this.#fetchAll(signal)
    return this.#folders
  }

  async close(): Promise<void> {
    await rm(this.#scratch, { recursive: true, force: true })
  }

  async #fetchAll(signal: AbortSignal): Promise<string[]> {
    const folders: string[] = []
    for (const [at, url] of (await this.#addresses()).entries()) {
      const scratch = join(this.#scratch, String(at))
      try {
        await importRepository(
          { url },
          {
            scratch,
            outbound: this.#ctx.outbound,
            proxy: this.#ctx.config.outboundProxy,
            signal,
          },
        )
        folders.push(join(scratch, 'fetched.git/objects'))
      } catch (error) {
        signal.throwIfAborted()
        this.#ctx.log.warn('a mirror gave nothing', { error, project: this.#projectId })
      }
    }
    return folders
  }

  /** Without the key of the database no address can be read. */
  async #addresses(): Promise<string[]> {
    const { db } = this.#ctx
    if (this.#projectId === undefined) return []
    const pull = await findPullMirror(db, this.#projectId)
    const found: (() => string)[] = pull ? [() => openAddress(this.#ctx, 'pull', pull)] : []
    for (const { id } of await listEnabledMirrors(db, this.#projectId)) {
      const mirror = await findRemoteMirror(db, id)
      if (mirror) found.push(() => openAddress(this.#ctx, 'push', mirror))
    }
    return found.flatMap((open) => {
      try {
        return [open()]
      } catch {
        return []
      }
    })
  }
}
