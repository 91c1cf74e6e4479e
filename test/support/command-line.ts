import { runCommandLine } from '../../src/cli/main.ts'

export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
  /** The settings with which the command asked to become the server; undefined when it did not. */
  readonly served: Readonly<Record<string, string>> | undefined
}

/** Runs a command line in this process, on a data folder, and gives all that it said. */
export async function gitstead(
  data: string,
  words: readonly string[],
  input = '',
  settings: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  let out = ''
  let err = ''
  let served: Readonly<Record<string, string>> | undefined
  const code = await runCommandLine(words, {
    environment: { GITSTEAD_DATA: data, GITSTEAD_LOG_LEVEL: 'error', ...settings },
    out: { write: (text: string) => (out += text) },
    err: { write: (text: string) => (err += text) },
    signal: new AbortController().signal,
    readInput: async () => input,
    serve: async (settings) => {
      served = settings
    },
  })
  return { code, out, err, served }
}
