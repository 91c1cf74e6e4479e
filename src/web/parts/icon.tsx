import { assetPath } from '../assets.ts'
import { type Shown, useShown } from '../context.ts'
import type { IconName } from './icon-names.ts'

export type { IconName }

interface IconProps {
  readonly name: IconName
  /** What the picture says where no word stands beside it. */
  readonly label?: string
  readonly class?: string
}

export function iconAddress({ basePath }: Shown, name: IconName): string {
  return `${basePath}${assetPath('icons.svg')}#${name}`
}

/** A picture beside a word; alone it has a label. All of them lie in one file of ours. */
export function Icon({ name, label, class: more }: IconProps) {
  const classes = more === undefined ? 'icon' : `icon ${more}`
  const address = iconAddress(useShown(), name)
  if (label === undefined) {
    return (
      <svg class={classes} width="16" height="16" aria-hidden="true">
        <use href={address} />
      </svg>
    )
  }
  return (
    <svg class={classes} width="16" height="16" role="img">
      <title>{label}</title>
      <use href={address} />
    </svg>
  )
}
