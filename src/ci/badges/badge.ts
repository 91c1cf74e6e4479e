import type { PipelineStatus } from '../../store/schema/commits.ts'

export const BADGE_STYLES = ['flat', 'flat-square', 'plastic', 'for-the-badge', 'social'] as const

/** How a badge is to look. */
export interface BadgeLook {
  readonly style: (typeof BADGE_STYLES)[number]
  readonly label: string
}

const GREEN = '#44cc11'
const RED = '#e05d44'
const YELLOW = '#dfb317'
const GREY = '#9f9f9f'

const COLORS: Readonly<Partial<Record<PipelineStatus, string>>> = {
  success: GREEN,
  failed: RED,
  running: YELLOW,
  pending: YELLOW,
  preparing: '#a7a7a7',
}

/** The status of a pipeline as a picture; `unknown` where there is none. */
export function drawPipelineBadge(
  status: PipelineStatus | undefined,
  look: BadgeLook,
): Promise<string> {
  const message = status === 'success' ? 'passed' : (status ?? 'unknown').replaceAll('_', ' ')
  return draw(look, message, (status && COLORS[status]) ?? GREY)
}

async function draw(look: BadgeLook, message: string, color: string): Promise<string> {
  // Loaded by the first badge: the widths of all letters take 4 MB, and many servers draw none.
  const { makeBadge } = await import('badge-maker')
  return makeBadge({ ...look, message, color })
}

/** From which percentage on a coverage is good, acceptable, or medium. */
export interface CoverageBounds {
  readonly good: number
  readonly acceptable: number
  readonly medium: number
}

/** A coverage as a picture. */
export function drawCoverageBadge(
  coverage: string | null,
  bounds: CoverageBounds,
  look: BadgeLook,
): Promise<string> {
  if (coverage === null) return draw(look, 'unknown', GREY)
  return draw(look, `${coverage}%`, colorOf(Number(coverage), bounds))
}

function colorOf(percentage: number, { good, acceptable, medium }: CoverageBounds): string {
  if (percentage >= good) return GREEN
  if (percentage >= acceptable) return '#a3c51c'
  return percentage >= medium ? YELLOW : RED
}
