import { clientRead, clientWrite } from '../registry/access.ts'

/** npm shows what stands at `error`, the reason alone; other clients read `message` (docs/contract/C-resolved §0.1). */
function refusal(_status: number, message: string) {
  const reason = message.replace(/^\d{3} [A-Za-z ]+ - /, '')
  return { error: reason.replace(/^404 (.+) Not Found$/, '$1 not found'), message }
}

export const npmRead = { ...clientRead, client: { ...clientRead.client, refusal } } as const
export const npmWrite = { ...clientWrite, client: { ...clientWrite.client, refusal } } as const
