import type { MoveStep } from '../../src/repositories/refs/move-refs.ts'
import type { PushStep } from '../../src/transport/transport.ts'
import { type Child, startChild } from '../support/child.ts'

/** What the server in the other process is told. */
export interface Order {
  /** Where it dies without warning; nowhere when empty. */
  readonly step: PushStep | MoveStep | ''
  /** A ref that it moves at once, as the API would. */
  readonly move?: {
    readonly project: number
    readonly name: string
    readonly oldId: string
    readonly newId: string
  }
}

/** A server in a process of its own that dies where it is told, and is started again on the same folder when it is gone. */
export interface CrashServer {
  /** Gives the port of a server that will die at the step. */
  serve(step: Order['step']): Promise<string>
  /** Whether it lived to the end of a move. */
  move(order: Required<Order>): Promise<boolean>
  /** Waits until it has died. */
  death(): Promise<void>
  kill(): Promise<void>
}

export function crashServer(folder: string): CrashServer {
  let child: Child | undefined
  let port = ''
  async function order(given: Order): Promise<boolean> {
    if (!child) {
      child = startChild(new URL('./crash-child.mjs', import.meta.url), folder)
      port = (await child.lines.next()).value
    }
    child.process.stdin?.write(`${JSON.stringify(given)}\n`)
    return (await child.lines.next()).value === 'done'
  }
  return {
    async serve(step) {
      await order({ step })
      return port
    },
    move: order,
    async death() {
      await child?.exit()
      child = undefined
    },
    async kill() {
      await child?.kill()
      child = undefined
    },
  }
}
