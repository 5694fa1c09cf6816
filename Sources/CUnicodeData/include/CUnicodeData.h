/* No declarations: the data is only linked. */
