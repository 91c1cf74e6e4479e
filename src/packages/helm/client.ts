import { clientRead, clientWrite } from '../registry/access.ts'

/** The plugin that pushes charts shows what stands at `error`. */
function refusal(_status: number, message: string) {
  return { error: message, message }
}

export const helmRead = { ...clientRead, client: { ...clientRead.client, refusal } } as const
export const helmWrite = { ...clientWrite, client: { ...clientWrite.client, refusal } } as const
