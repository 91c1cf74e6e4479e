import { readlinkSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { vi } from 'vitest'

/** The files and folders that this process asks the disk to keep through `node:fs/promises`, in order; they are still synced. */
export async function watchSyncs(): Promise<{ readonly synced: string[]; restore(): void }> {
  const synced: string[] = []
  const handle = await open(tmpdir(), 'r')
  const prototype: { sync(): Promise<void> } = Object.getPrototypeOf(handle)
  await handle.close()
  const { sync } = prototype
  const watch = vi.spyOn(prototype, 'sync').mockImplementation(function (this: { fd: number }) {
    synced.push(readlinkSync(`/proc/self/fd/${this.fd}`))
    return sync.call(this)
  })
  return { synced, restore: () => watch.mockRestore() }
}
