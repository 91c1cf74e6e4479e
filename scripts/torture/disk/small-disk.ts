import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** A small file system in memory. */
export interface SmallDisk {
  readonly folder: string
  /** Takes all space but so many bytes. */
  fill(leave: number): Promise<void>
  /** Gives back what `fill` took. */
  free(): Promise<void>
  unmount(): void
}

const MEBIBYTE = 1024 * 1024

/** Mounts one, or gives undefined where this user may not. */
export function mountSmallDisk(folder: string, megabytes: number): SmallDisk | undefined {
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
  } catch {
    return undefined
  }
  const ballast = join(folder, 'ballast')
  const unmount = () => void execFileSync('umount', ['-l', folder])
  process.once('exit', unmount)
  return {
    folder,
    async fill(leave) {
      const file = await open(ballast, 'a')
      try {
        const { bavail, bsize } = await statfs(folder)
        await take(file, bavail * bsize - leave)
      } finally {
        await file.close()
      }
    },
    free: () => rm(ballast, { force: true }),
    unmount() {
      process.off('exit', unmount)
      unmount()
    },
  }
}

/** The server may take space at the same time: what does not fit any more is left out. */
async function take(file: Awaited<ReturnType<typeof open>>, bytes: number): Promise<void> {
  const piece = Buffer.alloc(MEBIBYTE)
  try {
    for (let left = bytes; left > 0; left -= MEBIBYTE) {
      await file.write(piece, 0, Math.min(left, MEBIBYTE))
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}
