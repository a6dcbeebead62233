"""What a person sees, as it was last read: pages, the PDF's text, studies, drawings, what commands print."""
