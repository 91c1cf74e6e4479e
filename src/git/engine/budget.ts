/** Set by whoever starts an engine process. */
export const engineMark = 'GITSTEAD_ENGINE'

const inEngine = process.env[engineMark] === '1'

/** What a cache may hold: so much in an engine process, less in the main one, which has to stay small. */
export function budget(engine: number, main: number): number {
  return inEngine ? engine : main
}

export const mebibyte = 1024 * 1024
