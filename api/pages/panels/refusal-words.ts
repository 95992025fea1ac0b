/** The words for a person whose role may not write. */
export const readOnlyWords = 'Your role in this workspace lets you read only. Nothing has been changed.'

/** The words for a person who has used up the calls of a minute. */
export const tooMuchWords = 'That was too much for one minute. Wait a little, then try again.'
