"""What factors do to responses: effects, interactions, designs."""
