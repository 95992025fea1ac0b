/** The words for a person whose role may not write. */
export const readOnlyWords = 'Your role in this workspace lets you read only. Nothing has been changed.'
