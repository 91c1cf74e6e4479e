import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** A process of the server, and what it is there for. */
export interface ServerProcess {
  readonly pid: number
  readonly role: 'main' | 'engine' | 'git' | 'other'
}

/** All processes below one, itself included, of a server that listens on a port. */
export function processesBelow(root: number, port: number): ServerProcess[] {
  const children = childrenByParent()
  const found: number[] = []
  const visit = (pid: number) => {
    found.push(pid)
    for (const child of children.get(pid) ?? []) visit(child)
  }
  visit(root)
  const sockets = listeningSockets(port)
  return found.map((pid) => ({ pid, role: roleOf(pid, sockets) }))
}

function roleOf(pid: number, sockets: ReadonlySet<string>): ServerProcess['role'] {
  const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')
  if (/git\/service\/process\.[jt]s/.test(command)) return 'engine'
  if (/^\S*git\S* /.test(command)) return 'git'
  return holdsSocket(pid, sockets) ? 'main' : 'other'
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = read(`/proc/${name}/stat`)
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    if (!Number.isInteger(parent)) continue
    const known = children.get(parent)
    if (known) known.push(Number(name))
    else children.set(parent, [Number(name)])
  }
  return children
}

/** The names of the sockets that listen on a port, as `/proc/<pid>/fd` shows them. */
function listeningSockets(port: number): Set<string> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const found = new Set<string>()
  for (const line of read('/proc/net/tcp').split('\n')) {
    const parts = line.trim().split(/\s+/)
    if (parts[1]?.endsWith(local) && parts[3] === '0A') found.add(`socket:[${parts[9]}]`)
  }
  return found
}

function holdsSocket(pid: number, sockets: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return sockets.has(readlinkSync(`/proc/${pid}/fd/${fd}`))
      } catch {
        return false
      }
    })
  } catch {
    return false
  }
}

/** Memory that processes hold now, in bytes. Pages that they share are counted once. */
export function memoryOf(processes: readonly ServerProcess[]): number {
  let sum = 0
  for (const { pid } of processes) {
    const kilobytes = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))
    sum += Number(kilobytes?.[1] ?? 0) * 1024
  }
  return sum
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    // Gone while we looked.
    return ''
  }
}
