import { configFault, TOO_LARGE } from './fault.ts'

/** Refuses a configuration that grows too large: templates, references and variables make small texts into huge values. */
export function budget(most: {
  readonly count: number
  readonly characters: number
}): (count: number, characters?: number) => void {
  let spent = 0
  let written = 0
  return (count, characters = 0) => {
    spent += count
    written += characters
    if (spent > most.count || written > most.characters) throw configFault(TOO_LARGE)
  }
}
