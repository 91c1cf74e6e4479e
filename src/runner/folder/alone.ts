import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning, ownedName, processMark } from '../../base/process-mark.ts'
import { StartError } from '../../base/start-error.ts'

const LOOK_EVERY_MS = 200
const NAME = 'alone'

/**
 * Waits until no other runner uses a folder, and keeps all others out of it: the one that works beside a server is the
 * only one there, also while that of a killed server comes to its end. Gives what lets go of it.
 */
export async function takeAlone(
  folder: string,
  { stop, say }: { readonly stop: AbortSignal; readonly say: (line: string) => void },
): Promise<() => Promise<void>> {
  const path = join(folder, NAME)
  let hasSaid = false
  while (!stop.aborted) {
    const holder = (await hold(path)) ?? (await slotHolder(folder))
    if (holder === undefined) break
    if (!hasSaid) say(`Process ${Number.parseInt(holder, 10)} uses ${folder}, waits until it ends`)
    hasSaid = true
    await sleep(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => undefined)
  }
  return async () => {
    if ((await readFile(path, 'utf8').catch(() => '')) === ownMark())
      await rm(path, { force: true })
  }
}

/** Refuses a folder that the runner beside a server has for itself. */
export async function assertNotAlone(folder: string): Promise<void> {
  const holder = await readFile(join(folder, NAME), 'utf8').catch(() => '')
  if (!isRunning(holder)) return
  const pid = Number.parseInt(holder, 10)
  throw new StartError(
    `the runner beside a server (process ${pid}) uses ${folder}: name another --folder`,
  )
}

/** Takes a lock file; gives who has it when that is another process. */
async function hold(path: string): Promise<string | undefined> {
  const own = ownMark()
  const written = join(dirname(path), ownedName(`${NAME}-`))
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await writeFile(written, own, { mode: 0o600 })
  try {
    for (;;) {
      // A link appears with its content: a lock that says nothing is nobody's.
      await link(written, path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
      })
      const holder = await readFile(path, 'utf8').catch(() => '')
      if (holder === own) return undefined
      if (isRunning(holder)) return holder
      await rm(path, { force: true })
    }
  } finally {
    await rm(written, { force: true })
  }
}

/** Another process that has a place for a job there. */
async function slotHolder(folder: string): Promise<string | undefined> {
  const slots = join(folder, 'slots')
  for (const name of await readdir(slots).catch(() => [])) {
    const holder = await readFile(join(slots, name), 'utf8').catch(() => '')
    if (holder !== ownMark() && isRunning(holder)) return holder
  }
  return undefined
}

function ownMark(): string {
  return processMark(process.pid) ?? String(process.pid)
}
