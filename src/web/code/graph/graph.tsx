import type { ComponentChildren } from 'preact'
import type { LaneRow } from './lanes.ts'

/** Lanes that are drawn; those beyond share the last one. The style sheet has a width for each number. */
const MOST = 10
const STEP = 12
/** A row is as high as what stands beside it: its picture is stretched from this height. */
const HEIGHT = 100

interface RowProps {
  readonly lanes: number
  readonly row: LaneRow
}

/** The part of the graph beside one commit. What it says is on the commit's page too: its parents. */
export function GraphRow({ lanes, row: { at, into, past, out } }: RowProps) {
  const middle = HEIGHT / 2
  return (
    <Picture lanes={lanes}>
      {past.map((lane) => (
        <path key={`past ${lane}`} d={`M${x(lane)} 0V${HEIGHT}`} />
      ))}
      {into.map((lane) => (
        <path key={`into ${lane}`} d={`M${x(lane)} 0L${x(at)} ${middle}`} />
      ))}
      {out.map((lane) => (
        <path key={`out ${lane}`} d={`M${x(at)} ${middle}L${x(lane)} ${HEIGHT}`} />
      ))}
      <path class="dot" d={`M${x(at)} ${middle}h0`} />
    </Picture>
  )
}

/** The graph beside what is no commit: its lanes go on. */
export function GraphGap({ lanes, through }: { lanes: number; through: readonly number[] }) {
  return (
    <Picture lanes={lanes}>
      {through.map((lane) => (
        <path key={lane} d={`M${x(lane)} 0V${HEIGHT}`} />
      ))}
    </Picture>
  )
}

function Picture({ lanes, children }: { lanes: number; children: ComponentChildren }) {
  const shown = Math.min(lanes, MOST)
  return (
    <span class={`lanes lanes-${shown}`}>
      <svg aria-hidden={true} viewBox={`0 0 ${shown * STEP} ${HEIGHT}`} preserveAspectRatio="none">
        {children}
      </svg>
    </span>
  )
}

/** The middle of a lane. */
function x(lane: number): number {
  return (Math.min(lane, MOST - 1) + 0.5) * STEP
}
